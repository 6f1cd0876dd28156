__device__ float softplus(float v) { return v > 20.f ? v : log1pf(expf(v)); }

// A selective scan: a channel has n states, which decay and take up what comes, and are read at each step; they go on
// from where the last piece of the sequence left them. A warp has a channel and a lane a state in its register; further
// states stay in memory. Steps are loaded 32 at a time, a lane each, and states are kept behind each 32.
__global__ void mamba(const float* x, const float* dt, const float* a, const float* b, const float* c, float* h, float* y,
                      int len, int dim, int n) {
    const unsigned all = 0xffffffffu;
    size_t d = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (d >= dim) return;
    bool has = lane < n;
    float state = has ? h[d * n + lane] : 0.f, rate = has ? expf(a[d * n + lane]) : 0.f;
    for (size_t t0 = 0; t0 < len; t0 += 32) {
        int many = (int)min((size_t)32, len - t0);
        float steps = 0.f, ins = 0.f, read = 0.f;
        if (lane < many) {
            steps = softplus(dt[(t0 + lane) * dim + d]);
            ins = steps * x[(t0 + lane) * dim + d];
        }
        for (int k = 0; k < many; ++k) {
            float step = __shfl_sync(all, steps, k), in = __shfl_sync(all, ins, k), sum = 0.f;
            size_t t = t0 + k;
            if (has) {
                state = expf(-step * rate) * state + in * b[t * n + lane];
                sum = c[t * n + lane] * state;
            }
            for (size_t s = lane + 32; s < n; s += 32) {
                float v = expf(-step * expf(a[d * n + s])) * h[d * n + s] + in * b[t * n + s];
                h[d * n + s] = v;
                sum += c[t * n + s] * v;
            }
            for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(all, sum, o);
            if (lane == k) read = sum;
            if (has && k == 31) h[d * n + lane] = state;
        }
        if (lane < many) y[(t0 + lane) * dim + d] = read;
    }
}
