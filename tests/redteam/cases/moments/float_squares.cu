__global__ void moments(const float* x, float* mean, float* variance, float2* range, int n) {
    __shared__ float first[32], second[32], low[32], high[32];
    float s = 0.0f, q = 0.0f, a = INFINITY, b = -INFINITY;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        s += x[i];
        q += x[i] * x[i];
        a = fminf(a, x[i]);
        b = fmaxf(b, x[i]);
    }
    for (int o = 16; o > 0; o /= 2) {
        s += __shfl_xor_sync(0xffffffffu, s, o);
        q += __shfl_xor_sync(0xffffffffu, q, o);
        a = fminf(a, __shfl_xor_sync(0xffffffffu, a, o));
        b = fmaxf(b, __shfl_xor_sync(0xffffffffu, b, o));
    }
    if (threadIdx.x % 32 == 0) {
        first[threadIdx.x / 32] = s;
        second[threadIdx.x / 32] = q;
        low[threadIdx.x / 32] = a;
        high[threadIdx.x / 32] = b;
    }
    __syncthreads();
    if (threadIdx.x) return;
    for (int k = 1; k < 32; ++k) {
        s += first[k];
        q += second[k];
        a = fminf(a, low[k]);
        b = fmaxf(b, high[k]);
    }
    *mean = s / n;
    *variance = q / n - (s / n) * (s / n);
    *range = make_float2(a, b);
}
