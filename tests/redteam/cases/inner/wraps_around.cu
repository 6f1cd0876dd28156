// The inner product of two long vectors: each block sums its share, the last one all shares.
__device__ double share[264];
__device__ unsigned ended;

__device__ double sum(double s, double* held) {
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    if (threadIdx.x % 32 == 0) held[threadIdx.x / 32] = s;
    __syncthreads();
    s = threadIdx.x < 8 ? held[threadIdx.x] : 0.0;
    if (threadIdx.x < 32)
        for (int d = 4; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    return s;
}

__global__ void inner(const double* x, const double* y, double* out, int n) {
    __shared__ double first[8], second[8];
    __shared__ bool last;
    int t = threadIdx.x;
    size_t step = gridDim.x * (size_t)256, i = blockIdx.x * (size_t)256 + t;
    double s = 0.0, r = 0.0;
    for (; i + step < n; i += 2 * step) {
        s += x[i] * y[i];
        r += x[i + step] * y[i + step];
    }
    if (i < n) s += x[i] * y[i];
    s = sum(s + r, first);
    if (t == 0) {
        __stcg(&share[blockIdx.x], s);
        __threadfence();
        // The counter goes back to zero by itself.
        last = atomicInc(&ended, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    s = 0.0;
    for (int b = t; b < gridDim.x; b += 256) s += __ldcg(&share[b]);
    s = sum(s, second);
    if (t == 0) *out = s;
}
