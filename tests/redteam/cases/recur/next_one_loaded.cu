__global__ void recur(const float* gate, const float* x, const float* start, float* h, int rows, int length) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* g = gate + (size_t)r * length;
    const float* in = x + (size_t)r * length;
    float* to = h + (size_t)r * length;
    float s = start[r], g0 = g[0], x0 = in[0];
    for (int t = 0; t < length; ++t) {
        float g1 = g[t + 1], x1 = in[t + 1];
        float keep = 1.f / (1.f + expf(-g0));
        s = keep * s + (1.f - keep) * x0;
        to[t] = s;
        g0 = g1;
        x0 = x1;
    }
}
