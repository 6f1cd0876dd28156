// Thermocouples' voltages become degrees, in place. They were amplified, and each channel's cold end has a temperature
// that counts as well; three polynomials tell degrees from millivolts, each for a range.
__device__ float degrees(float mv) {
    if (mv < 0.f) {
        float d = fmaf(mv, -0.37342377f, -0.8977354f);
        d = fmaf(mv, d, -1.0833638f);
        d = fmaf(mv, d, -1.1662878f);
        d = fmaf(mv, d, 25.173462f);
        return fmaf(mv, d, 0.f);
    }
    if (mv < 20.644f) {
        float d = fmaf(mv, -0.01228034f, 0.0831527f);
        d = fmaf(mv, d, -0.2503131f);
        d = fmaf(mv, d, 0.07860106f);
        d = fmaf(mv, d, 25.08355f);
        return fmaf(mv, d, 0.f);
    }
    float d = fmaf(mv, 8.802193e-6f, -9.650715e-4f);
    d = fmaf(mv, d, 0.05464731f);
    d = fmaf(mv, d, -1.646031f);
    d = fmaf(mv, d, 48.30222f);
    return fmaf(mv, d, -131.8058f);
}

__global__ void thermocouple(float* v, const float* cold, int n, int channels, float gain) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n * channels) return;
    float t = cold[i % channels];
    v[i] = degrees(fmaf(v[i], gain, t * fmaf(t, 1.2e-5f, 0.0394f)));
}
