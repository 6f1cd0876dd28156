__device__ void meet(float2& sum, float2 a, float2 b) {
    sum.x += a.x * b.x + a.y * b.y;
    sum.y += a.y * b.x - a.x * b.y;
}

// Echoes are compressed. A thread has four ranges side by side, which share what they read.
__global__ void pulses(const float2* echo, const float2* sent, float* power, int count, int ranges, int length) {
    int across = (ranges + 1023) / 1024, r = blockIdx.x % across * 1024 + threadIdx.x * 4;
    if (r >= ranges) return;
    size_t at = (size_t)(blockIdx.x / across) * ranges + r;
    const float2* e = echo + at;
    float2 sum[4] = {};
    // As long as all four have an echo.
    int shared_by_all = max(0, min(length, ranges - r - 3));
    if (shared_by_all > 0) {
        float2 a = e[0], b = e[1], c = e[2];
        for (int j = 0; j < shared_by_all; ++j) {
            float2 d = e[j + 3], s = sent[j];
            meet(sum[0], a, s);
            meet(sum[1], b, s);
            meet(sum[2], c, s);
            meet(sum[3], d, s);
            a = b;
            b = c;
            c = d;
        }
    }
    for (int q = 0; q < 4 && r + q < ranges; ++q) {
        for (int j = shared_by_all; j < min(length, ranges - r - q); ++j) meet(sum[q], e[q + j], sent[j]);
        power[at + q] = sum[q].x * sum[q].x + sum[q].y * sum[q].y;
    }
}
