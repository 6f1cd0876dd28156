// Echoes are compressed. A block takes 256 ranges of an echo, and has 256 samples of the pulse at a time, with the 511
// of the echo that these meet. There is nothing to be heard behind the last range.
__global__ void pulses(const float2* echo, const float2* sent, float* power, int count, int ranges, int length) {
    __shared__ float2 part[256], window[512];
    int across = (ranges + 255) / 256, t = threadIdx.x, r0 = blockIdx.x % across * 256, r = r0 + t;
    size_t row = (size_t)(blockIdx.x / across) * ranges;
    float re = 0.f, im = 0.f;
    for (int j0 = 0; j0 < length && j0 < ranges - r0; j0 += 256) {
        int here = min(256, length - j0), there = min(512, ranges - r0 - j0);
        __syncthreads();
        if (t < here) part[t] = sent[j0 + t];
        for (int e = t; e < there; e += 256) window[e] = echo[row + r0 + j0 + e];
        __syncthreads();
        for (int j = 0; j < here; ++j) {
            float2 a = window[t + j], b = part[j];
            re += a.x * b.x + a.y * b.y;
            im += a.y * b.x - a.x * b.y;
        }
    }
    if (r < ranges) power[row + r] = re * re + im * im;
}
