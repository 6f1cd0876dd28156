// Byzantine-robust federated averaging: m clients send a gradient of d coordinates each (g is m x d). On every coordinate the
// lowest and the highest (m-1)/4 values are trimmed and the rest is averaged; w takes a step against the average.
// cut[i] counts the coordinates on which client i was trimmed. The order is total: by value, -0 below +0,
// NaN at the two ends by their sign, and equal values by client, so that broken clients are trimmed, too.

__device__ __forceinline__ unsigned order(float x)
{
    unsigned u = __float_as_uint(x);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

__global__ void step(const float* g, float* w, int* cut, int m, int d, int t, float lr)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    bool live = c < d;
    float sum = 0.0f;
    for (int i = 0; i < m; ++i) {
        bool out = false;
        if (live) {
            float v = g[(size_t)i * d + c];
            unsigned mine = order(v);
            int rank = 0;
            for (int j = 0; j < m; ++j) {
                unsigned other = order(g[(size_t)j * d + c]);
                rank += other < mine || (other == mine && j < i);
            }
            out = rank < t || rank >= m - t;
            if (!out) sum += v;
        }
        unsigned votes = __ballot_sync(0xffffffffu, out);
        if ((threadIdx.x & 31) == 0 && votes != 0) atomicAdd(&cut[i], __popc(votes));
    }
    if (live) w[c] -= lr * (sum / (float)(m - 2 * t));
}

// The same with a tile of m x 64 order keys in shared memory; the value is got back from its key.
__global__ void step_tile(const float* g, float* w, int* cut, int m, int d, int t, float lr)
{
    extern __shared__ unsigned tile[];
    int c = blockIdx.x * 64 + threadIdx.x;
    bool live = c < d;
    for (int i = 0; i < m; ++i) tile[i * 64 + threadIdx.x] = live ? order(g[(size_t)i * d + c]) : 0u;
    // each thread reads its own column only: no barrier needed
    float sum = 0.0f;
    for (int i = 0; i < m; ++i) {
        unsigned mine = tile[i * 64 + threadIdx.x];
        int rank = 0;
        for (int j = 0; j < i; ++j) rank += tile[j * 64 + threadIdx.x] <= mine;
        for (int j = i + 1; j < m; ++j) rank += tile[j * 64 + threadIdx.x] < mine;
        bool out = live && (rank < t || rank >= m - t);
        if (live && !out) sum += __uint_as_float(mine ^ ((mine >> 31) ? 0x80000000u : 0xffffffffu));
        unsigned votes = __ballot_sync(0xffffffffu, out);
        if ((threadIdx.x & 31) == 0 && votes != 0) atomicAdd(&cut[i], __popc(votes));
    }
    if (live) w[c] -= lr * (sum / (float)(m - 2 * t));
}

extern "C" void trimmed(const float* g, float* w, int* cut, int m, int d, float lr)
{
    int t = (m - 1) / 4;
    cudaMemsetAsync(cut, 0, (size_t)m * sizeof(int), 0);
    if (m <= 128)
        step_tile<<<(d + 63) / 64, 64, (size_t)m * 64 * sizeof(unsigned)>>>(g, w, cut, m, d, t, lr);
    else
        step<<<(d + 255) / 256, 256>>>(g, w, cut, m, d, t, lr);
}
