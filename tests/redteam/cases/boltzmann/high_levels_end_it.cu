// The mean energy of each system, its levels weighed by exp(-beta * energy). A warp a system; where 32 levels add
// nothing any more, those behind them will not, either.
__global__ void boltzmann(const float* energy, float* mean, int systems, int levels, float beta) {
    int s = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (s >= systems) return;
    const float* e = energy + (size_t)s * levels;
    float low = e[0];
    for (int l = lane; l < levels; l += 32) low = fminf(low, e[l]);
    for (int d = 16; d; d /= 2) low = fminf(low, __shfl_xor_sync(0xffffffffu, low, d));
    float sum = 0.f, weighed = 0.f;
    for (int l0 = 0; l0 < levels; l0 += 32) {
        int l = l0 + lane;
        float v = l < levels ? e[l] : 0.f, w = l < levels ? expf(beta * (low - v)) : 0.f;
        if (__all_sync(0xffffffffu, w < 1e-8f)) break;
        sum += w;
        weighed += w * v;
    }
    for (int d = 16; d; d /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
        weighed += __shfl_xor_sync(0xffffffffu, weighed, d);
    }
    if (lane == 0) mean[s] = weighed / sum;
}
