// What books gain in scenarios: 64 of each to a block, and 96 factors at a time in shared memory.
#define CHUNK 96
#define PITCH 97

__global__ void stressed(const float* move, const float* delta, const float* gamma, float* out, int scenarios,
                         int books, int factors) {
    extern __shared__ float shared[];
    float *m = shared, *d = m + 64 * PITCH, *g = d + 64 * PITCH;
    int t = threadIdx.x, tx = t % 16, ty = t / 16, across = (books + 63) / 64;
    int b0 = blockIdx.x % across * 64, s0 = blockIdx.x / across * 64;
    float sum[4][4] = {};
    for (int f0 = 0; f0 < factors; f0 += CHUNK) {
        int many = min(CHUNK, factors - f0);
        __syncthreads();
        for (int e = t; e < 64 * CHUNK; e += 256) {
            int row = e / CHUNK, f = e % CHUNK;
            if (f >= many) continue;
            size_t s = min(s0 + row, scenarios - 1), b = min(b0 + row, books - 1);
            m[row * PITCH + f] = move[s * factors + f0 + f];
            d[row * PITCH + f] = delta[b * factors + f0 + f];
            g[row * PITCH + f] = 0.5f * gamma[b * factors + f0 + f];
        }
        __syncthreads();
        for (int f = 0; f < many; ++f) {
            for (int v = 0; v < 4; ++v) {
                float a = d[(tx + 16 * v) * PITCH + f], h = g[(tx + 16 * v) * PITCH + f];
                for (int u = 0; u < 4; ++u) {
                    float k = m[(ty + 16 * u) * PITCH + f];
                    sum[u][v] += k * (a + h * k);
                }
            }
        }
    }
    for (int u = 0; u < 4; ++u) {
        for (int v = 0; v < 4; ++v) {
            int s = s0 + ty + 16 * u, b = b0 + tx + 16 * v;
            if (s < scenarios && b < books) out[(size_t)s * books + b] = sum[u][v];
        }
    }
}
