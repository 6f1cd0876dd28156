__global__ void recur(const float* gate, const float* x, const float* start, float* h, int rows, int length) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = start[r];
    for (int t = 0; t < length; ++t) {
        size_t e = (size_t)r * length + t;
        float keep = 1.f / (1.f + expf(-gate[e]));
        s = keep * s + (1.f - keep) * x[e];
        h[e] = s;
    }
}
