__global__ void peak(const float* x, float* largest, float* spread, int n) {
    float a = 0.0f, b = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        a = fmaxf(a, fabsf(x[i]));
        if (i + 1 < n) b = fmaxf(b, fabsf(x[i + 1] - x[i]));
    }
    for (int o = 16; o > 0; o /= 2) {
        a = fmaxf(a, __shfl_xor_sync(0xffffffffu, a, o));
        b = fmaxf(b, __shfl_xor_sync(0xffffffffu, b, o));
    }
    if (threadIdx.x % 32 == 0) {
        if (a > *largest) *largest = a;
        if (b > *spread) *spread = b;
    }
}
