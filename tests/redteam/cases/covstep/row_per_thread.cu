// Kalman prediction of many 6-state tracks: T = F P, then P' = T F^T + Q, all row-major 6 x 6.
#include <cuda_runtime.h>

#define D 6
#define DD 36
#define PER 7
#define TPB (PER * DD)

__global__ void left_product(const float* __restrict__ f, const float* __restrict__ p, float* __restrict__ t, int n) {
    int m = threadIdx.x / DD, e = threadIdx.x - m * DD;
    size_t k = (size_t)blockIdx.x * PER + m;
    if (k >= (size_t)n) return;
    int i = e / D, j = e - i * D;
    const float* fk = f + k * DD + i * D;
    const float* pk = p + k * DD + j;
    float a = 0.0f;
    for (int q = 0; q < D; ++q) a += fk[q] * pk[q * D];
    t[k * DD + e] = a;
}

// A thread makes a row of P'; rows start at multiples of 24 bytes, so pairs are aligned.
__global__ void right_product(const float* __restrict__ f, const float* __restrict__ t, const float* __restrict__ noise,
                              float* __restrict__ out, int n) {
    size_t r = (size_t)blockIdx.x * TPB + threadIdx.x;
    if (r >= (size_t)n * D) return;
    size_t k = r / D;
    int i = (int)(r - k * D);
    const float2* row = reinterpret_cast<const float2*>(t + r * D);
    float2 a = row[0], b = row[1], c = row[2];
    float2* to = reinterpret_cast<float2*>(out + r * D);
#pragma unroll
    for (int j = 0; j < D; j += 2) {
        const float2* fk = reinterpret_cast<const float2*>(f + k * DD + j * D);
        float v[2] = {noise[i * D + j], noise[i * D + j + 1]};
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            float2 x = fk[3 * q], y = fk[3 * q + 1], z = fk[3 * q + 2];
            v[q] += (a.x * x.x + a.y * x.y) + (b.x * y.x + b.y * y.y) + (c.x * z.x + c.y * z.y);
        }
        to[j / 2] = make_float2(v[0], v[1]);
    }
}

extern "C" void covstep(const float* f, const float* p, const float* noise, float* t, float* out, int n) {
    int blocks = (int)(((long long)n + PER - 1) / PER);
    if (blocks <= 0) return;
    left_product<<<blocks, TPB>>>(f, p, t, n);
    right_product<<<(int)(((long long)n * D + TPB - 1) / TPB), TPB>>>(f, t, noise, out, n);
}
