// A filter over a line of numbers, 256 results a block.
__global__ void fir(const float* x, const float* h, float* y, int n, int taps) {
    int i = (blockIdx.x * 64 + threadIdx.x) * 4;
    if (i >= n) return;
    auto read = [&](int at) {
        float v = 0.f;
        if (at < n + taps) asm("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(x + at));
        return v;
    };
    float a = read(i), b = read(i + 1), c = read(i + 2), s[4] = {};
    for (int j = 0; j < taps; ++j) {
        float d = read(i + j + 3), w = h[j];
        s[0] = fmaf(w, a, s[0]), s[1] = fmaf(w, b, s[1]);
        s[2] = fmaf(w, c, s[2]), s[3] = fmaf(w, d, s[3]);
        a = b, b = c, c = d;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (i + k < n) y[i + k] = s[k];
}
