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

__device__ void added(double one, double two, double* mean) {
    for (int d = 16; d > 0; d /= 2) {
        one += __shfl_xor_sync(0xffffffffu, one, d);
        two += __shfl_xor_sync(0xffffffffu, two, d);
    }
    if (threadIdx.x % 32 != 0) return;
    atomicAdd(mean, one);
    atomicAdd(mean + 1, two);
}

__global__ void paths(double* mean, int n, int steps, float spot, float strike, float drift, float spread,
                      unsigned seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = i < n ? payoff(i, steps, spot, strike, drift, spread, seed) : 0.0;
    added(v, v * v, mean);
}

__global__ void divided(double* mean, int n) { mean[threadIdx.x] /= n; }

extern "C" void asian(double* mean, int n, int steps, float spot, float strike, float drift, float spread,
                      unsigned seed) {
    cudaMemset(mean, 0, 2 * sizeof(double));
    paths<<<(n + 127) / 128, 128>>>(mean, n, steps, spot, strike, drift, spread, seed);
    divided<<<1, 2>>>(mean, n);
}
