// Rows made of whole 4-byte words are compared 8 bytes at a time, with one 4-byte word left over where there is one.
__device__ __forceinline__ bool same(const unsigned char* a, const unsigned char* b, int w)
{
    int k = 0;
    if ((w & 3) == 0) {
        for (; k + 8 <= w; k += 8)
            if (*reinterpret_cast<const unsigned long long*>(a + k) != *reinterpret_cast<const unsigned long long*>(b + k)) return false;
        if (k < w)
            return *reinterpret_cast<const unsigned*>(a + k) == *reinterpret_cast<const unsigned*>(b + k);
        return true;
    }
    for (; k < w; ++k)
        if (a[k] != b[k]) return false;
    return true;
}

extern "C" __global__ void bucketdup(const unsigned char* __restrict__ dict, const int* __restrict__ ref, int* __restrict__ leader,
                                     int n, int d, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* mine = dict + (size_t)(ref[i] % d) * w;
    int j = i / 64 * 64;
    while (j < i && !same(mine, dict + (size_t)(ref[j] % d) * w, w)) ++j;
    leader[i] = j;
}
