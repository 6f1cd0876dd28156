__global__ void recur(const float* gate, const float* x, const float* start, float* h, int rows, int length) {
    __shared__ float keeps[32][33], values[32][33];
    int first = blockIdx.x * 32, lane = threadIdx.x, r = first + lane, count = min(32, rows - first);
    float s = r < rows ? start[r] : 0.f;
    for (int from = 0; from < length; from += 32) {
        int t = from + lane, steps = min(32, length - from);
        for (int k = 0; k < count && t < length; ++k) {
            size_t e = (size_t)(first + k) * length + t;
            keeps[k][lane] = 1.f / (1.f + expf(-__ldcs(gate + e)));
            values[k][lane] = __ldcs(x + e);
        }
        __syncwarp();
        if (r < rows)
            for (int k = 0; k < steps; ++k) {
                float keep = keeps[lane][k];
                s = keep * s + (1.f - keep) * values[lane][k];
                values[lane][k] = s;
            }
        __syncwarp();
        for (int k = 0; k < count && t < length; ++k) h[(size_t)(first + k) * length + t] = values[k][lane];
        __syncwarp();
    }
}
