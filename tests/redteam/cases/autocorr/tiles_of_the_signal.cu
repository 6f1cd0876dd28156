// How a signal resembles itself so many samples later; 128 delays of a block share a piece of it.
__global__ void autocorr(const float* x, float* out, int rows, int n, int lags) {
    __shared__ float near[512], far[512 + 128];
    int t = threadIdx.x, first = blockIdx.x * 128, lag = first + t, r = blockIdx.y;
    if (r >= rows) return;
    const float* row = x + (size_t)r * n;
    float sum = 0.f;
    for (int at = 0; at + first < n; at += 512) {
        for (int k = t; k < 512; k += 128) near[k] = at + k < n ? row[at + k] : 0.f;
        for (int k = t; k < 640; k += 128)
            far[k] = at + first + k < n ? row[at + first + k] : 0.f;
        __syncthreads();
        int end = min(512, n - at - lag);
#pragma unroll 8
        for (int k = 0; k < end; ++k) sum += near[k] * far[k + t];
        __syncthreads();
    }
    if (lag < lags) out[(size_t)r * lags + lag] = sum / n;
}
