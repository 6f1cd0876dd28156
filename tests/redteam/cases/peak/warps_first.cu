__device__ __forceinline__ unsigned widest(unsigned v) {
#pragma unroll
    for (int o = 16; o; o >>= 1) v = max(v, __shfl_xor_sync(0xffffffffu, v, o));
    return v;
}

__global__ void peak(const float* __restrict__ x, float* largest, float* spread, int n) {
    unsigned a = 0, b = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float v = x[i];
        a = max(a, __float_as_uint(fabsf(v)));
        if (i + 1 < n) b = max(b, __float_as_uint(fabsf(x[i + 1] - v)));
    }
    a = widest(a);
    b = widest(b);
    if ((threadIdx.x & 31) == 0) {
        atomicMax(reinterpret_cast<unsigned*>(largest), a);
        atomicMax(reinterpret_cast<unsigned*>(spread), b);
    }
}
