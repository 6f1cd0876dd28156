// Coupled oscillators (Kuramoto): each turns at its own rate and is drawn by all others by the sine of the
// difference of phases. Euler steps; phases are not wrapped.
#include <cuda_runtime.h>
#include <cmath>

static const float STEP = 0.05f;
static const float COUPLING = 1.5f;

// The sum of sin(b - a) over all b is S cos(a) - C sin(a), with the sums S of sin(b) and C of cos(b).
__device__ void total(double s, double c, double& all_s, double& all_c) {
    __shared__ double part_s[8], part_c[8];
    for (int d = 16; d; d /= 2) {
        s += __shfl_xor_sync(0xffffffffu, s, d);
        c += __shfl_xor_sync(0xffffffffu, c, d);
    }
    if ((threadIdx.x & 31) == 0) {
        part_s[threadIdx.x >> 5] = s;
        part_c[threadIdx.x >> 5] = c;
    }
    __syncthreads();
    all_s = all_c = 0.0;
    for (int k = 0; k < 8; k++) {
        all_s += part_s[k];
        all_c += part_c[k];
    }
}

// A step adds up into one pair of sums and clears the pair of the next step.
__device__ double field_s[3], field_c[3];

__global__ void sums(const float* __restrict__ from, int n, int slot) {
    double s = 0.0, c = 0.0, all_s, all_c;
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) sincos((double)from[i], &s, &c);
    total(s, c, all_s, all_c);
    if (threadIdx.x == 0) {
        atomicAdd(&field_s[slot], all_s);
        atomicAdd(&field_c[slot], all_c);
    }
}

__global__ void advance(const float* __restrict__ from, const float* __restrict__ omega,
                        float* __restrict__ to, int n, int slot) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i == 0) field_s[(slot + 1) % 3] = field_c[(slot + 1) % 3] = 0.0;
    if (i >= n) return;
    double own = from[i], sine, cosine;
    sincos(own, &sine, &cosine);
    to[i] = (float)(own + STEP * (omega[i] + COUPLING / (double)n * (field_s[slot] * cosine - field_c[slot] * sine)));
}

void kuramoto(const float* theta, const float* omega, float* out, int n, int steps) {
    if (steps < 1) {
        cudaMemcpyAsync(out, theta, n * sizeof(float), cudaMemcpyDeviceToDevice, 0);
        return;
    }
    float* other;
    cudaMallocAsync(&other, n * sizeof(float), 0);
    const float* from = theta;
    for (int s = 0; s < steps; s++) {
        float* to = (steps - 1 - s) % 2 ? other : out;
        sums<<<(n + 255) / 256, 256>>>(from, n, s % 3);
        advance<<<(n + 255) / 256, 256>>>(from, omega, to, n, s % 3);
        from = to;
    }
    cudaFreeAsync(other, 0);
}
