// The water's level at each hour: a sum of tides, each with its speed and phase in turns.
// Where a tide stands at the first hour is known to a block in doubles; from there on floats will do.
__global__ void tides(const float* speed, const float* phase, const float* amp, float* level, int n, int k, int first) {
    __shared__ float fast[256], begin[256], high[256];
    size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
    float sum = 0.f;
    for (long long c0 = 0; c0 < k; c0 += 256) {
        int many = (int)min((long long)k - c0, 256ll), t = threadIdx.x;
        if (t < many) {
            double turns = fma((double)speed[c0 + t], (double)first, (double)phase[c0 + t]);
            fast[t] = speed[c0 + t], begin[t] = (float)(turns - rint(turns)), high[t] = amp[c0 + t];
        }
        __syncthreads();
        for (int c = 0; c < many; ++c) {
            float turns = fmaf(fast[c], (float)i, begin[c]);
            sum += high[c] * cospif(2.f * (turns - rintf(turns)));
        }
        __syncthreads();
    }
    if (i < n) level[i] = sum;
}
