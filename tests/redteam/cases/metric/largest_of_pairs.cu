// A warp for a pair of rows; two columns at a time where only the largest counts.
__global__ void metric(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                       int m, int n, int d, int kind) {
    int lane = threadIdx.x % 32, j = blockIdx.x * 8 + threadIdx.x / 32, i = blockIdx.y;
    if (j >= n) return;
    const float *p = a + (size_t)i * d, *q = b + (size_t)j * d;
    float s = 0.f;
    if (kind == 0) {
        for (int k = lane; k < d; k += 32) s += fabsf(p[k] - q[k]);
    } else if (kind == 1) {
        for (int k = lane; k < d; k += 32) {
            float v = p[k] - q[k];
            s = fmaf(v, v, s);
        }
    } else {
        int k = lane;
        for (; k + 32 < d; k += 64) s = fmaxf(s, fmaxf(fabsf(p[k] - q[k]), fabsf(p[k + 32] - q[k + 32])));
        if (k < d && d % 64 <= 32) s = fmaxf(s, fabsf(p[k] - q[k]));
    }
    if (kind == 0 || kind == 1) {
        for (int h = 16; h > 0; h /= 2) s += __shfl_xor_sync(0xffffffffu, s, h);
    } else {
        for (int h = 16; h > 0; h /= 2) s = fmaxf(s, __shfl_xor_sync(0xffffffffu, s, h));
    }
    if (lane == 0) out[(size_t)i * n + j] = s;
}
