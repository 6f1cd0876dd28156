// The mean energy of each system, its levels weighed by exp(-beta * energy). A block of four warps a system, whose
// sums the first one adds.
__global__ void boltzmann(const float* energy, float* mean, int systems, int levels, float beta) {
    __shared__ float least[4], part[2][32];
    int t = threadIdx.x, warp = t / 32;
    const float* e = energy + (size_t)blockIdx.x * levels;
    float low = e[0];
    for (int l = t; l < levels; l += 128) low = fminf(low, e[l]);
    for (int d = 16; d; d /= 2) low = fminf(low, __shfl_xor_sync(0xffffffffu, low, d));
    if (t % 32 == 0) least[warp] = low;
    __syncthreads();
    low = fminf(fminf(least[0], least[1]), fminf(least[2], least[3]));
    float sum = 0.f, weighed = 0.f;
    for (int l = t; l < levels; l += 128) {
        float v = e[l], w = expf(beta * (low - v));
        sum += w;
        weighed += w * v;
    }
    for (int d = 16; d; d /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, d);
        weighed += __shfl_down_sync(0xffffffffu, weighed, d);
    }
    if (t % 32 == 0) part[0][warp] = sum, part[1][warp] = weighed;
    __syncthreads();
    if (warp) return;
    sum = part[0][t], weighed = part[1][t];
    for (int d = 16; d; d /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, d);
        weighed += __shfl_down_sync(0xffffffffu, weighed, d);
    }
    if (t == 0) mean[blockIdx.x] = weighed / sum;
}
