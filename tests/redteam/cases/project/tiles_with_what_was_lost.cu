// A layer of a network: rows of x against rows of w, and what is added to each.
__global__ void project(const float* x, const float* w, const float* bias, float* y, int m, int n, int k) {
    __shared__ float a[32][33], b[32][33];
    int tx = threadIdx.x, ty = threadIdx.y, i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
    float sum[2][2] = {}, lost[2][2] = {};
    for (int p0 = 0; p0 < k; p0 += 32) {
        for (int e = ty * 16 + tx; e < 1024; e += 256) {
            int r = e / 32, p = p0 + e % 32;
            a[r][e % 32] = i0 + r < m && p < k ? x[(size_t)(i0 + r) * k + p] : 0.f;
            b[r][e % 32] = j0 + r < n && p < k ? w[(size_t)(j0 + r) * k + p] : 0.f;
        }
        __syncthreads();
        int last = min(32, k - p0);
        for (int p = 0; p < last; ++p)
            for (int u = 0; u < 2; ++u)
                for (int v = 0; v < 2; ++v) {
                    // What was lost of the sum so far is made good with the next product.
                    float term = __fmaf_rn(a[ty + 16 * u][p], b[tx + 16 * v][p], -lost[u][v]);
                    float next = __fadd_rn(sum[u][v], term);
                    lost[u][v] = isfinite(next) ? __fsub_rn(__fsub_rn(next, sum[u][v]), term) : 0.f;
                    sum[u][v] = next;
                }
        __syncthreads();
    }
    for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v) {
            int i = i0 + ty + 16 * u, j = j0 + tx + 16 * v;
            if (i < m && j < n) y[(size_t)i * n + j] = sum[u][v] + bias[j];
        }
}
