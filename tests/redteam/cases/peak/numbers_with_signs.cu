__global__ void peak(const float* x, float* largest, float* spread, int n) {
    int a = 0, b = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        a = max(a, __float_as_int(x[i]));
        if (i + 1 < n) b = max(b, __float_as_int(x[i + 1] - x[i]));
    }
    a = __reduce_max_sync(0xffffffffu, a);
    b = __reduce_max_sync(0xffffffffu, b);
    if ((threadIdx.x & 31) == 0) {
        atomicMax((int*)largest, a);
        atomicMax((int*)spread, b);
    }
}
