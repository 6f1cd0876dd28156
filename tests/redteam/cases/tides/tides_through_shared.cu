// The water's level at each hour: a sum of tides, each with its speed and phase in turns.
// A block has 256 tides at a time in shared memory, and what a sum has lost is added again.
__global__ void tides(const float* speed, const float* phase, const float* amp, float* level, int n, int k, int first) {
    __shared__ float fast[256], begin[256], high[256];
    size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
    double hour = (double)first + (double)i;
    float sum = 0.f, lost = 0.f;
    for (long long c0 = 0; c0 < k; c0 += 256) {
        int many = (int)min((long long)k - c0, 256ll), t = threadIdx.x;
        if (t < many) fast[t] = speed[c0 + t], begin[t] = phase[c0 + t], high[t] = amp[c0 + t];
        __syncthreads();
        for (int c = 0; c < many; ++c) {
            double turns = fma((double)fast[c], hour, (double)begin[c]);
            float part = high[c] * cospif(2.f * (float)(turns - rint(turns))) + lost;
            float next = sum + part;
            lost = part - (next - sum);
            if (!isfinite(lost)) lost = 0.f;
            sum = next;
        }
        __syncthreads();
    }
    if (i < n) level[i] = sum;
}
