// One momentum-SGD step with the whole gradient clipped to a global L2 norm.
#include <cuda_runtime.h>

#define PARTS 512
#define TPB 256

__device__ double parts[PARTS];
__device__ float factor;

__global__ void square_sums(const float* __restrict__ g, int n) {
    __shared__ double s[TPB];
    double a = 0.0;
    for (size_t i = blockIdx.x * (size_t)TPB + threadIdx.x; i < (size_t)n; i += (size_t)gridDim.x * TPB)
        a += (double)g[i] * (double)g[i];
    s[threadIdx.x] = a;
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

// Four parameters to a thread.
__global__ void step(float* __restrict__ w, float* __restrict__ m, const float* __restrict__ g,
                     int n, float lr, float beta) {
    size_t i = blockIdx.x * (size_t)TPB + threadIdx.x;
    const float f = factor;
    if (i < (size_t)n / 4) {
        float4 a = reinterpret_cast<const float4*>(g)[i];
        float4 v = reinterpret_cast<float4*>(m)[i];
        float4 p = reinterpret_cast<float4*>(w)[i];
        v.x = beta * v.x + f * a.x;
        v.y = beta * v.y + f * a.y;
        v.z = beta * v.z + f * a.z;
        v.w = beta * v.w + f * a.w;
        p.x -= lr * v.x;
        p.y -= lr * v.y;
        p.z -= lr * v.z;
        p.w -= lr * v.w;
        reinterpret_cast<float4*>(m)[i] = v;
        reinterpret_cast<float4*>(w)[i] = p;
    }
    size_t rest = (size_t)n / 4 * 4 + i;  // at most three are left: the first threads take them
    if (rest < (size_t)n) {
        float v = beta * m[rest] + f * g[rest];
        m[rest] = v;
        w[rest] -= lr * v;
    }
}

extern "C" void sgdclip(float* w, float* m, const float* g, float* norm, int n, float limit, float lr, float beta) {
    if (n <= 0) return;
    int all = (int)(((long long)n + TPB - 1) / TPB);
    int blocks = all < PARTS ? all : PARTS;
    square_sums<<<blocks, TPB>>>(g, n);
    clip_factor<<<1, PARTS>>>(blocks, limit, norm);
    int quads = (int)(((long long)n + 3) / 4);
    step<<<(quads + TPB - 1) / TPB, TPB>>>(w, m, g, n, lr, beta);
}
