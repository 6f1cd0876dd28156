// The water's level at each hour: a sum of tides, each with its speed and phase in turns.
// Four lanes share the tides of an hour.
__global__ void tides(const float* speed, const float* phase, const float* amp, float* level, int n, int k, int first) {
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 4;
    double hour = (double)first + (double)i;
    float sum = 0.f;
    if (i < n)
        for (long long c = threadIdx.x % 4; c < k; c += 4) {
            double turns = fma((double)speed[c], hour, (double)phase[c]);
            sum += amp[c] * cospif(2.f * (float)(turns - rint(turns)));
        }
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    if (i < n && threadIdx.x % 4 == 0) level[i] = sum;
}
