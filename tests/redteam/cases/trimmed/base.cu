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

extern "C" void trimmed(const float* g, float* w, int* cut, int m, int d, float lr)
{
    int t = (m - 1) / 4;
    cudaMemsetAsync(cut, 0, (size_t)m * sizeof(int), 0);
    step<<<(d + 255) / 256, 256>>>(g, w, cut, m, d, t, lr);
}
