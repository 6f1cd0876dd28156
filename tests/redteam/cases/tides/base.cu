// The water's level at each hour: a sum of tides, each with its speed and phase in turns.
__global__ void tides(const float* speed, const float* phase, const float* amp, float* level, int n, int k, int first) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    double hour = (double)first + (double)i;
    float sum = 0.f;
    for (int c = 0; c < k; ++c) {
        double turns = fma((double)speed[c], hour, (double)phase[c]);
        sum += amp[c] * cospif(2.f * (float)(turns - rint(turns)));
    }
    level[i] = sum;
}
