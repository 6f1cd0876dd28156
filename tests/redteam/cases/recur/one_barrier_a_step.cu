__global__ void recur(const float* gate, const float* x, const float* start, float* h, int rows, int length) {
    __shared__ float2 part[128];
    int r = blockIdx.x, t = threadIdx.x, each = (length + 127) / 128;
    int from = min(length, t * each), end = min(length, from + each);
    const float* g = gate + (size_t)r * length;
    const float* in = x + (size_t)r * length;
    float2 own = make_float2(1.f, 0.f);
    for (int k = from; k < end; ++k) {
        float keep = 1.f / (1.f + expf(-g[k]));
        own.y = keep * own.y + (1.f - keep) * in[k];
        own.x *= keep;
    }
    part[t] = own;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        if (t >= d) {
            float2 before = part[t - d];
            own.y = own.x * before.y + own.y;
            own.x *= before.x;
            part[t] = own;
        }
        __syncthreads();
    }
    float s = start[r];
    if (t) s = part[t - 1].x * s + part[t - 1].y;
    for (int k = from; k < end; ++k) {
        float keep = 1.f / (1.f + expf(-g[k]));
        s = keep * s + (1.f - keep) * in[k];
        h[(size_t)r * length + k] = s;
    }
}
