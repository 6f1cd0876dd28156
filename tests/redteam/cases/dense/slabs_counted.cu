// A layer of a network: each row by the weights, its biases, and a leaky ramp behind it.
__device__ float ramp(float v, float slope) { return v > 0.f ? v : slope * v; }

// A block has 64 x 64 results, 4 x 4 a thread, and brings slabs of 32 products into shared memory. The loop has a count
// that is known, 64 slabs, and ends early for rows that have fewer.
__global__ void dense(const float* x, const float* w, const float* bias, float* out, int m, int n, int k, float slope) {
    __shared__ float xs[64 * 33], ws[32 * 64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 64, col = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int slab = 0, from = 0; slab < 64; ++slab, from += 32) {
        if (from >= k) break;
        for (int e = t; e < 64 * 32; e += 256) {
            int r = row + e / 32, j = from + e % 32;
            xs[e / 32 * 33 + e % 32] = r < m && j < k ? x[(size_t)r * k + j] : 0.f;
        }
        for (int e = t; e < 32 * 64; e += 256) {
            int j = from + e / 64, c = col + e % 64;
            ws[e] = j < k && c < n ? w[(size_t)j * n + c] : 0.f;
        }
        __syncthreads();
        for (int j = 0; j < 32; ++j) {
            float a[4], b[4];
            for (int i = 0; i < 4; ++i) a[i] = xs[(ty + 16 * i) * 33 + j];
            for (int i = 0; i < 4; ++i) b[i] = ws[j * 64 + tx + 16 * i];
            for (int i = 0; i < 4; ++i)
                for (int h = 0; h < 4; ++h) sum[i][h] += a[i] * b[h];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        for (int h = 0; h < 4; ++h) {
            int r = row + ty + 16 * i, c = col + tx + 16 * h;
            if (r < m && c < n) out[(size_t)r * n + c] = ramp(sum[i][h] + bias[c], slope);
        }
    }
}
