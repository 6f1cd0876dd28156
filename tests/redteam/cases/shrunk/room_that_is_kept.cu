#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>

// Details are made and added up at once, by shuffles.
__global__ void details(const float* x, float* detail, float* sum, int m) {
    __shared__ float part[8];
    int p = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float d = 0.f;
    if (p < m) {
        d = 0.5f * (x[2 * (size_t)p] - x[2 * (size_t)p + 1]);
        detail[p] = d;
    }
    d = fabsf(d);
    for (int w = 16; w > 0; w /= 2) d += __shfl_down_sync(~0u, d, w);
    if (t % 32 == 0) part[t / 32] = d;
    __syncthreads();
    if (t > 0) return;
    for (int w = 1; w < 8; ++w) d += part[w];
    atomicAdd(sum, d);
}

__global__ void joined(const float* x, const float* detail, const float* sum, float* y, int n, float keep) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, m = n / 2, p = i / 2;
    if (i >= n) return;
    if (p == m) {
        y[i] = x[i];
        return;
    }
    float mean = 0.5f * (x[2 * (size_t)p] + x[2 * (size_t)p + 1]);
    float d = copysignf(fmaxf(fabsf(detail[p]) - keep * (*sum / m), 0.f), detail[p]);
    y[i] = i % 2 ? mean - d : mean + d;
}

extern "C" void shrunk(const float* x, float* y, int n, float keep) {
    // Room for the details is made anew for longer signals alone. The first number is their sum.
    static float* room = nullptr;
    static int most = -1;
    int m = n / 2;
    if (m > most) {
        cudaFree(room);
        cudaMalloc(&room, (m + 1ll) * sizeof(float));
        most = m;
    }
    cudaMemsetAsync(room, 0, sizeof(float), 0);
    details<<<m / 256 + 1, 256>>>(x, room + 1, room, m);
    joined<<<(n + 255) / 256, 256>>>(x, room + 1, room, y, n, keep);
}
