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
            if (at + first + k < n) far[k] = row[at + first + k];
            else if (at + 512 >= n - first) far[k] = 0.f;  // behind the end, which the last tile meets
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 512; ++k) sum += near[k] * far[k + t];
        __syncthreads();
    }
    if (lag < lags) out[(size_t)r * lags + lag] = sum / n;
}
