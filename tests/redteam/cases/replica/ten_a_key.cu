// Records of `d` fields stand in groups of `g`: which is the first of its group with the very same fields as this one?
__global__ void replica(const int* fields, int* first, int n, int d, int g)
{
    extern __shared__ unsigned long long keys[];
    int* part = (int*)(keys + g);
    int* next = part + g;
    int begin = blockIdx.x * g, count = min(g, n - begin);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        part[i] = 0;
    for (int f0 = 0; f0 < d; f0 += 10) {
        for (int i = threadIdx.x; i < count; i += blockDim.x) {
            unsigned long long key = 0;
            for (int f = f0; f < min(d, f0 + 10); ++f)
                key = key << 6 | (unsigned)fields[(size_t)(begin + i) * d + f];
            keys[i] = key;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += blockDim.x) {
            int j = part[i];
            while (part[j] != part[i] || keys[j] != keys[i])
                ++j;
            next[i] = j;
        }
        __syncthreads();
        int* t = part;
        part = next;
        next = t;
    }
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        first[begin + i] = begin + part[i];
}
