// Byzantine-robust federated averaging: m clients send a gradient of d coordinates each (g is m x d). On every coordinate the
// lowest and the highest (m-1)/4 values are trimmed and the rest is averaged; w takes a step against the average.
// cut[i] counts the coordinates on which client i was trimmed. The order is total: by value, -0 below +0,
// NaN at the two ends by their sign, and equal values by client, so that broken clients are trimmed, too.

__device__ __forceinline__ unsigned order(float x)
{
    unsigned u = __float_as_uint(x);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

__global__ void step(const float* g, float* w, int* cut, int m, int d, int from, int to, int t, float lr)
{
    int c = from + blockIdx.x * blockDim.x + threadIdx.x;
    bool live = c < to;
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

// Two halves of the coordinates on streams of their own, forked from the caller's stream and joined to it again.
extern "C" void trimmed(const float* g, float* w, int* cut, int m, int d, float lr)
{
    static cudaStream_t side[2] = { nullptr, nullptr };
    static cudaEvent_t ready, done[2];
    if (side[0] == nullptr) {
        for (int k = 0; k < 2; ++k) {
            cudaStreamCreateWithFlags(&side[k], cudaStreamNonBlocking);
            cudaEventCreateWithFlags(&done[k], cudaEventDisableTiming);
        }
        cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    }
    int t = (m - 1) / 4, half = d / 2;
    cudaMemsetAsync(cut, 0, (size_t)m * sizeof(int), 0);
    cudaEventRecord(ready, 0);
    for (int k = 0; k < 2; ++k) {
        int from = k == 0 ? 0 : half, to = k == 0 ? half : d;
        cudaStreamWaitEvent(side[k], ready, 0);
        if (to > from)
            step<<<(to - from + 255) / 256, 256, 0, side[k]>>>(g, w, cut, m, d, from, to, t, lr);
        cudaEventRecord(done[k], side[k]);
        cudaStreamWaitEvent(0, done[k], 0);
    }
}
