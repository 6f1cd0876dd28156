// The mean energy of each system, its levels weighed by exp(-beta * energy). A warp a system, which reads it once:
// the lowest level would be above and below the line.
__global__ void boltzmann(const float* energy, float* mean, int systems, int levels, float beta) {
    int s = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (s >= systems) return;
    const float* e = energy + (size_t)s * levels;
    float sum = 0.f, weighed = 0.f;
    for (int l = lane; l < levels; l += 32) {
        float v = e[l], w = expf(-beta * v);
        sum += w;
        weighed += w * v;
    }
    for (int d = 16; d; d /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
        weighed += __shfl_xor_sync(0xffffffffu, weighed, d);
    }
    if (lane == 0) mean[s] = weighed / sum;
}
