// The gradient of a layer's weights: columns of what went in times columns of what came back.
// A block works out 64 by 64 of them, a thread 4 by 4.
__global__ void __launch_bounds__(256) gradw(const float* x, const float* g, float* dw, int m, int k, int n) {
    __shared__ float xs[16][64], gs[16][64];
    int across = (n + 63) / 64, row0 = blockIdx.x / across * 64, column0 = blockIdx.x % across * 64;
    int tr = threadIdx.x / 16, tc = threadIdx.x % 16;
    float sum[4][4] = {};
    for (int r0 = 0; r0 < m; r0 += 16) {
        for (int e = threadIdx.x; e < 16 * 64; e += 256) {
            int r = e / 64, c = e % 64;
            xs[r][c] = r0 + r < m && row0 + c < k ? x[(size_t)(r0 + r) * k + row0 + c] : 0.f;
            gs[r][c] = r0 + r < m && column0 + c < n ? g[(size_t)(r0 + r) * n + column0 + c] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 16; ++r) {
            float a[4], b[4];
            for (int e = 0; e < 4; ++e) a[e] = xs[r][tr + 16 * e], b[e] = gs[r][tc + 16 * e];
            for (int p = 0; p < 4; ++p)
                for (int q = 0; q < 4; ++q) sum[p][q] += a[p] * b[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 4; ++q) {
            int r = row0 + tr + 16 * p, c = column0 + tc + 16 * q;
            if (r < k && c < n) dw[(size_t)r * n + c] = sum[p][q];
        }
}
