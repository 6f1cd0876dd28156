// Records of `d` fields stand in groups of `g`: which is the first of its group with the very same fields as this one?
__global__ void replica(const int* fields, int* first, int n, int d, int g)
{
    extern __shared__ unsigned char bucket[];
    __shared__ int listed[64][32];
    int begin = blockIdx.x * g, count = min(g, n - begin);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        unsigned hash = 0;
        for (int f = 0; f < d; ++f)
            hash = hash * 5 + (unsigned)fields[(size_t)(begin + i) * d + f];
        bucket[i] = hash & 63;
    }
    __syncthreads();
    if (threadIdx.x >= 64)
        return;
    int length = 0;
    for (int i = 0; i < count; ++i) {
        if (bucket[i] != threadIdx.x)
            continue;
        const int* own = fields + (size_t)(begin + i) * d;
        int result = i;
        for (int l = 0; l < length; ++l) {
            const int* other = fields + (size_t)(begin + listed[threadIdx.x][l]) * d;
            int f = 0;
            while (f < d && own[f] == other[f])
                ++f;
            if (f == d) {
                result = listed[threadIdx.x][l];
                break;
            }
        }
        if (result == i && length < 32)
            listed[threadIdx.x][length++] = i;
        first[begin + i] = begin + result;
    }
}
