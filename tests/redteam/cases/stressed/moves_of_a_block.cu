// What books gain in scenarios: a block holds the moves of eight scenarios, for 128 books.
#define ROOM 128

__global__ void stressed(const float* move, const float* delta, const float* gamma, float* out, int scenarios,
                         int books, int factors) {
    __shared__ float m[8][ROOM];
    int across = (books + 127) / 128, many = min(factors, ROOM);
    int b = blockIdx.x % across * 128 + threadIdx.x, s0 = blockIdx.x / across * 8;
    for (int u = 0; u < 8; ++u)
        if (threadIdx.x < many && s0 + u < scenarios) m[u][threadIdx.x] = move[(size_t)(s0 + u) * factors + threadIdx.x];
    __syncthreads();
    if (b >= books) return;
    const float *d = delta + (size_t)b * factors, *g = gamma + (size_t)b * factors;
    float sum[8] = {};
    for (int f = 0; f < many; ++f) {
        float a = d[f], h = 0.5f * g[f];
        for (int u = 0; u < 8; ++u) sum[u] += m[u][f] * (a + h * m[u][f]);
    }
    for (int u = 0; u < 8; ++u)
        if (s0 + u < scenarios) out[(size_t)(s0 + u) * books + b] = sum[u];
}
