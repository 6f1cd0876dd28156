// A sum and what its roundings left out.
struct Sum {
    float all, rest;
    __device__ void add(float v) {
        float next = all + v;
        rest += fabsf(all) >= fabsf(v) ? (all - next) + v : (v - next) + all;
        all = next;
    }
    // A sum that is infinite has no rest.
    __device__ float total() const { return isfinite(rest) ? all + rest : all; }
};

// The mean energy of each system, its levels weighed by exp(-beta * energy). A warp a system.
__global__ void boltzmann(const float* energy, float* mean, int systems, int levels, float beta) {
    int s = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (s >= systems) return;
    const float* e = energy + (size_t)s * levels;
    float low = e[0];
    for (int l = lane; l < levels; l += 32) low = fminf(low, e[l]);
    for (int d = 16; d; d /= 2) low = fminf(low, __shfl_xor_sync(0xffffffffu, low, d));
    Sum sum = {0.f, 0.f}, weighed = {0.f, 0.f};
    for (int l = lane; l < levels; l += 32) {
        float v = e[l], w = expf(beta * (low - v));
        sum.add(w);
        weighed.add(w * v);
    }
    float a = sum.total(), b = weighed.total();
    for (int d = 16; d; d /= 2) {
        a += __shfl_xor_sync(0xffffffffu, a, d);
        b += __shfl_xor_sync(0xffffffffu, b, d);
    }
    if (lane == 0) mean[s] = b / a;
}
