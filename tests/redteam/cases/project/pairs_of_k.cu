// A layer of a network: rows of x against rows of w, and what is added to each.
__global__ void project(const float* x, const float* w, const float* bias, float* y, int m, int n, int k) {
    __shared__ float a[16][34], b[16][34];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * 16 + ty, j = blockIdx.x * 16 + tx;
    float even = 0.f, odd = 0.f;
    for (int p0 = 0; p0 < k; p0 += 32) {
        int here = min(32, k - p0);
        for (int p = tx; p < here; p += 16) {
            if (i < m) a[ty][p] = x[(size_t)i * k + p0 + p];
            if (blockIdx.x * 16 + ty < n) b[ty][p] = w[(size_t)(blockIdx.x * 16 + ty) * k + p0 + p];
        }
        __syncthreads();
        // Two sums, so that none waits for the other.
        for (int p = 0; p + 1 < here; p += 2) {
            even += a[ty][p] * b[tx][p];
            odd += a[ty][p + 1] * b[tx][p + 1];
        }
        __syncthreads();
    }
    if (i < m && j < n) y[(size_t)i * n + j] = even + odd + bias[j];
}
