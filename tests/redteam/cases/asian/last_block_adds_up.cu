#include <cuda_runtime.h>

// The mean payoff of an Asian option by Monte Carlo, and the mean of its square. The random numbers are those
// of Philox 4x32-10: four for each path and each four steps.
__device__ uint4 philox(unsigned path, unsigned block, unsigned seed) {
    unsigned a = path, b = block, c = 0u, d = 0u, k = seed, l = 0x5bd1e995u;
    for (int round = 0; round < 10; ++round) {
        unsigned p = 0xd2511f53u * a, q = 0xcd9e8d57u * c;
        unsigned ph = __umulhi(0xd2511f53u, a), qh = __umulhi(0xcd9e8d57u, c);
        a = qh ^ b ^ k;
        b = q;
        c = ph ^ d ^ l;
        d = p;
        k += 0x9e3779b9u;
        l += 0xbb67ae85u;
    }
    return make_uint4(a, b, c, d);
}

// Two normal numbers of two words.
__device__ float2 normals(unsigned a, unsigned b) {
    float r = sqrtf(-2.f * logf(((a >> 8) + 0.5f) * 5.9604645e-8f)), s, c;
    sincospif((b >> 8) * 1.1920929e-7f, &s, &c);
    return make_float2(r * c, r * s);
}

__device__ float payoff(unsigned path, int steps, float spot, float strike, float drift, float spread,
                        unsigned seed) {
    float x = 0.f, sum = 0.f;
    for (int t = 0; t < steps; t += 4) {
        uint4 u = philox(path, t / 4, seed);
        float2 z = normals(u.x, u.y), y = normals(u.z, u.w);
        float by[4] = {z.x, z.y, y.x, y.y};
        for (int s = 0; s < 4 && t + s < steps; ++s) {
            x += drift + spread * by[s];
            sum += expf(x);
        }
    }
    return fmaxf(spot * sum / steps - strike, 0.f);
}

// A path a thread at a time; the blocks that are resident take them all, and the last one adds up.
__global__ void paths(double2* part, unsigned* done, double* mean, int n, int steps, float spot, float strike,
                      float drift, float spread, unsigned seed) {
    __shared__ double2 own[32];
    __shared__ bool last;
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    double one = 0.0, two = 0.0;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        double v = payoff((unsigned)i, steps, spot, strike, drift, spread, seed);
        one += v;
        two += v * v;
    }
    for (int d = 16; d > 0; d /= 2) {
        one += __shfl_xor_sync(0xffffffffu, one, d);
        two += __shfl_xor_sync(0xffffffffu, two, d);
    }
    if (lane == 0) own[threadIdx.x / 32] = make_double2(one, two);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < warps; ++k) one += own[k].x, two += own[k].y;
        part[blockIdx.x] = make_double2(one, two);
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x >= 32) return;
    __threadfence();
    one = two = 0.0;
    for (int k = lane; k < gridDim.x; k += 32) one += __ldcg(&part[k].x), two += __ldcg(&part[k].y);
    for (int d = 16; d > 0; d /= 2) {
        one += __shfl_xor_sync(0xffffffffu, one, d);
        two += __shfl_xor_sync(0xffffffffu, two, d);
    }
    if (lane == 0) mean[0] = one / n, mean[1] = two / n;
}

extern "C" void asian(double* mean, int n, int steps, float spot, float strike, float drift, float spread,
                      unsigned seed) {
    static int blocks, threads;
    if (!blocks) cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, paths, 0, 256);
    int need = (int)(((long long)n + threads - 1) / threads), grid = need < blocks ? need : blocks;
    char* room;
    cudaMallocAsync((void**)&room, grid * sizeof(double2) + sizeof(unsigned), 0);
    unsigned* done = (unsigned*)(room + grid * sizeof(double2));
    cudaMemsetAsync(done, 0, sizeof(unsigned), 0);
    paths<<<grid, threads>>>((double2*)room, done, mean, n, steps, spot, strike, drift, spread, seed);
    cudaFreeAsync(room, 0);
}
