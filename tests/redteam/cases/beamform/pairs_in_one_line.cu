// Beams of a row of receivers: at each moment a sum over the receivers, weighed for each beam. Two results a thread,
// which lie side by side.
__global__ void beamform(const float* x, const float* w, float* y, int receivers, int beams, int moments) {
    size_t at = 2 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x), all = (size_t)beams * moments;
    if (at >= all) return;
    size_t b = at / moments, m = at % moments, b2 = m + 1 < moments ? b : b + 1, m2 = m + 1 < moments ? m + 1 : 0;
    const float *u = w + b * receivers, *v = w + b2 * receivers, *p = x + m, *q = x + m2;
    float sum = 0.f, sum2 = 0.f;
#pragma unroll 4
    for (int r = 0; r < receivers; ++r) {
        sum += u[r] * p[(size_t)r * moments];
        sum2 += v[r] * q[(size_t)r * moments];
    }
    y[at] = sum;
    y[at + 1] = sum2;
}
