__global__ void peak(const float* x, float* largest, float* spread, int n) {
    __shared__ float held[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    held[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    unsigned a = i < n ? __float_as_uint(fabsf(held[threadIdx.x])) : 0u, b = 0;
    if (i + 1 < n && threadIdx.x < 255)
        b = __float_as_uint(fabsf(held[threadIdx.x + 1] - held[threadIdx.x]));
    a = __reduce_max_sync(0xffffffffu, a);
    b = __reduce_max_sync(0xffffffffu, b);
    if (threadIdx.x % 32 == 0) {
        atomicMax((unsigned*)largest, a);
        atomicMax((unsigned*)spread, b);
    }
}
