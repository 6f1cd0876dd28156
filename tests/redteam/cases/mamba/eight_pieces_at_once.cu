__device__ float softplus(float v) { return v > 20.f ? v : log1pf(expf(v)); }

// A selective scan: a channel has n states, which decay and take up what comes, and are read at each step; they go on
// from where the last piece of the sequence left them. A block has a channel, and a warp an eighth of its steps. States
// forget: a warp begins 64 steps before its own, from nothing, and has what it needs when it comes there.
__global__ void mamba(const float* x, const float* dt, const float* a, const float* b, const float* c, float* h, float* y,
                      int len, int dim, int n) {
    const unsigned all = 0xffffffffu;
    size_t d = blockIdx.x, lane = threadIdx.x % 32, part = ((size_t)len + 7) / 8;
    size_t first = threadIdx.x / 32 * part, end = min(first + part, (size_t)len);
    size_t begin = first > 64 ? first - 64 : 0;
    for (size_t s0 = 0; s0 < n; s0 += 32) {
        size_t s = s0 + lane;
        float state = s < n && begin == 0 ? h[d * n + s] : 0.f, rate = s < n ? expf(a[d * n + s]) : 0.f;
        __syncthreads();
        for (size_t t = begin; t < end; ++t) {
            float step = softplus(dt[t * dim + d]), sum = 0.f;
            if (s < n) {
                state = expf(-step * rate) * state + step * x[t * dim + d] * b[t * n + s];
                sum = c[t * n + s] * state;
            }
            if (t < first) continue;
            for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(all, sum, o);
            if (lane == 0) y[t * dim + d] = s0 ? y[t * dim + d] + sum : sum;
        }
        if (s < n && first < len && end == len) h[d * n + s] = state;
    }
}
