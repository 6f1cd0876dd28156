// The inner product of two long vectors: each block sums its share, the last one all shares.
__device__ double share[264];
__device__ unsigned ended;

__global__ void inner(const double* x, const double* y, double* out, int n) {
    __shared__ double held[256];
    __shared__ bool last;
    int t = threadIdx.x;
    double s = 0.0;
    for (size_t i = blockIdx.x * (size_t)256 + t; i < n; i += gridDim.x * (size_t)256) s += x[i] * y[i];
    held[t] = s;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) held[t] += held[t + d];
        __syncthreads();
    }
    if (t == 0) {
        share[blockIdx.x] = held[0];
        last = atomicAdd(&ended, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    s = 0.0;
    for (int b = t; b < gridDim.x; b += 256) s += __ldcg(&share[b]);
    held[t] = s;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) held[t] += held[t + d];
        __syncthreads();
    }
    if (t == 0) {
        *out = held[0];
        ended = 0;
    }
}
