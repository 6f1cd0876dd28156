// Coupled oscillators (Kuramoto): each turns at its own rate and is drawn by all others by the sine of the
// difference of phases. Euler steps; phases are not wrapped.
#include <cuda_runtime.h>
#include <cmath>

static const float STEP = 0.05f;
static const float COUPLING = 1.5f;

__global__ void advance(const float* __restrict__ from, const float* __restrict__ omega,
                        float* __restrict__ to, int n) {
    int i = blockIdx.x * 2 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (i >= n) return;
    float own = from[i], sum = 0.0f;
    for (int j = lane; j < n; j += 32) sum += sinf(from[j] - own);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) to[i] = own + STEP * (omega[i] + COUPLING / n * sum);
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
        advance<<<(n + 1) / 2, 64>>>(from, omega, to, n);
        from = to;
    }
    cudaFreeAsync(other, 0);
}
