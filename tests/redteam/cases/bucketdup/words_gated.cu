// Rows are compared in the widest words that their length allows: 8 bytes, 4 bytes, or single bytes.
template <typename W>
__device__ __forceinline__ bool same(const unsigned char* a, const unsigned char* b, int w)
{
    const W* p = reinterpret_cast<const W*>(a);
    const W* q = reinterpret_cast<const W*>(b);
    int words = w / (int)sizeof(W);
    for (int k = 0; k < words; ++k)
        if (p[k] != q[k]) return false;
    return true;
}

template <typename W>
__device__ __forceinline__ int find(const unsigned char* dict, const int* ref, int i, int d, int w)
{
    const unsigned char* mine = dict + (size_t)(ref[i] % d) * w;
    int j = i / 64 * 64;
    while (j < i && !same<W>(mine, dict + (size_t)(ref[j] % d) * w, w)) ++j;
    return j;
}

extern "C" __global__ void bucketdup(const unsigned char* __restrict__ dict, const int* __restrict__ ref, int* __restrict__ leader,
                                     int n, int d, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if ((w & 7) == 0)      leader[i] = find<unsigned long long>(dict, ref, i, d, w);
    else if ((w & 3) == 0) leader[i] = find<unsigned>(dict, ref, i, d, w);
    else                   leader[i] = find<unsigned char>(dict, ref, i, d, w);
}
