// One momentum-SGD step with the whole gradient clipped to a global L2 norm.
#include <cuda_runtime.h>

#define PARTS 512
#define TPB 256

__device__ double parts[PARTS];
__device__ float factor;

__global__ void square_sums(const float* __restrict__ g, int n) {
    __shared__ double s[TPB];
    // Compensated float sums are as good as double here and avoid the slow double pipe.
    float a = 0.0f, c = 0.0f;
    for (size_t i = blockIdx.x * (size_t)TPB + threadIdx.x; i < (size_t)n; i += (size_t)gridDim.x * TPB) {
        float y = __fsub_rn(__fmul_rn(g[i], g[i]), c);
        float t = __fadd_rn(a, y);
        c = __fsub_rn(__fsub_rn(t, a), y);
        a = t;
    }
    s[threadIdx.x] = (double)a - (double)c;
    __syncthreads();
    for (int k = TPB / 2; k > 0; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = s[0];
}

__global__ void clip_factor(int blocks, float limit, float* norm) {
    __shared__ double s[PARTS];
    int t = threadIdx.x;
    s[t] = t < blocks ? parts[t] : 0.0;
    __syncthreads();
    for (int k = PARTS / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        float r = (float)sqrt(s[0]);
        norm[0] = r;
        factor = r > limit ? limit / r : 1.0f;
    }
}

__global__ void step(float* __restrict__ w, float* __restrict__ m, const float* __restrict__ g,
                     int n, float lr, float beta) {
    size_t i = blockIdx.x * (size_t)TPB + threadIdx.x;
    if (i >= (size_t)n) return;
    float v = beta * m[i] + factor * g[i];
    m[i] = v;
    w[i] -= lr * v;
}

extern "C" void sgdclip(float* w, float* m, const float* g, float* norm, int n, float limit, float lr, float beta) {
    if (n <= 0) return;
    int all = (int)(((long long)n + TPB - 1) / TPB);
    int blocks = all < PARTS ? all : PARTS;
    square_sums<<<blocks, TPB>>>(g, n);
    clip_factor<<<1, PARTS>>>(blocks, limit, norm);
    step<<<all, TPB>>>(w, m, g, n, lr, beta);
}
