// Echoes of radar pulses are compressed: from each range on, an echo is correlated with the pulse as it was sent, as far
// as the echo goes, and the power of that is kept.
__global__ void pulses(const float2* echo, const float2* sent, float* power, int count, int ranges, int length) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)count * ranges) return;
    int r = i % ranges, m = min(length, ranges - r);
    float re = 0.f, im = 0.f;
    for (int j = 0; j < m; ++j) {
        float2 a = echo[i + j], b = sent[j];
        re += a.x * b.x + a.y * b.y;
        im += a.y * b.x - a.x * b.y;
    }
    power[i] = re * re + im * im;
}
