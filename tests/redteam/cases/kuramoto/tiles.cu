// Coupled oscillators (Kuramoto): each turns at its own rate and is drawn by all others by the sine of the
// difference of phases. Euler steps; phases are not wrapped.
#include <cuda_runtime.h>
#include <cmath>

static const float STEP = 0.05f;
static const float COUPLING = 1.5f;

__global__ void advance(const float* __restrict__ from, const float* __restrict__ omega,
                        float* __restrict__ to, int n) {
    __shared__ float phase[128];
    int i = blockIdx.x * 64 + threadIdx.x;
    float own = i < n ? from[i] : 0.0f;
    float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    for (int base = 0; base < n; base += 128) {
        int here = min(128, n - base);
        for (int k = threadIdx.x; k < here; k += 64) phase[k] = from[base + k];
        __syncthreads();
        int k = 0;
        for (; k + 4 <= here; k += 4) {
            a += sinf(phase[k] - own);
            b += sinf(phase[k + 1] - own);
            c += sinf(phase[k + 2] - own);
            d += sinf(phase[k + 3] - own);
        }
        for (; k < here; k++) a += sinf(phase[k] - own);
        __syncthreads();
    }
    if (i < n) to[i] = own + STEP * (omega[i] + COUPLING / n * ((a + b) + (c + d)));
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
        advance<<<(n + 63) / 64, 64>>>(from, omega, to, n);
        from = to;
    }
    cudaFreeAsync(other, 0);
}
