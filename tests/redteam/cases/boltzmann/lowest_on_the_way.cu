// The mean energy of each system, its levels weighed by exp(-beta * energy). A warp a system, which reads it once:
// where a lower level comes, what was added becomes less.
__global__ void boltzmann(const float* energy, float* mean, int systems, int levels, float beta) {
    int s = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (s >= systems) return;
    const float* e = energy + (size_t)s * levels;
    float low = e[0], sum = 0.f, weighed = 0.f;
    for (int l = lane; l < levels; l += 32) {
        float v = e[l];
        if (v < low) {
            float less = expf(beta * (v - low));
            sum *= less;
            weighed *= less;
            low = v;
        }
        float w = expf(beta * (low - v));
        sum += w;
        weighed += w * v;
    }
    for (int d = 16; d; d /= 2) {
        float low2 = __shfl_xor_sync(0xffffffffu, low, d), sum2 = __shfl_xor_sync(0xffffffffu, sum, d);
        float weighed2 = __shfl_xor_sync(0xffffffffu, weighed, d), least = fminf(low, low2);
        float f = expf(beta * (least - low)), g = expf(beta * (least - low2));
        sum = sum * f + sum2 * g;
        weighed = weighed * f + weighed2 * g;
        low = least;
    }
    if (lane == 0) mean[s] = weighed / sum;
}
