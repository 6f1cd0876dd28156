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
    // The short reduction runs on a high-priority stream, so that it is not held up by other work on the device.
    static cudaStream_t urgent = nullptr;
    static cudaEvent_t ready, reduced;
    if (!urgent) {
        int low = 0, high = 0;
        cudaDeviceGetStreamPriorityRange(&low, &high);
        cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, high);
        cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&reduced, cudaEventDisableTiming);
    }
    cudaEventRecord(ready, 0);
    cudaStreamWaitEvent(urgent, ready, 0);
    square_sums<<<blocks, TPB, 0, urgent>>>(g, n);
    cudaEventRecord(reduced, urgent);
    clip_factor<<<1, PARTS, 0, urgent>>>(blocks, limit, norm);
    cudaStreamWaitEvent(0, reduced, 0);
    step<<<all, TPB>>>(w, m, g, n, lr, beta);
}
