// One momentum-SGD step with the whole gradient clipped to a global L2 norm.
#include <cuda_runtime.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define PARTS 512
#define TPB 256

__device__ double parts[PARTS];


// Norm and update in one cooperative launch: the gradient is still in L2 for the second pass.
__global__ void __launch_bounds__(TPB) clipped_step(float* __restrict__ w, float* __restrict__ m,
                                                    const float* __restrict__ g, float* norm, int n, float limit,
                                                    float lr, float beta) {
    __shared__ double s[TPB];
    const int t = threadIdx.x;
    const size_t stride = (size_t)gridDim.x * TPB;
    const size_t first = blockIdx.x * (size_t)TPB + t;
    double a = 0.0;
    for (size_t i = first; i < (size_t)n; i += stride) a += (double)g[i] * (double)g[i];
    s[t] = a;
    __syncthreads();
    for (int k = TPB / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) parts[blockIdx.x] = s[0];
    cg::this_grid().sync();
    // Every block folds the partial sums for itself, in the same order.
    a = 0.0;
    for (int k = t; k < gridDim.x; k += TPB) a += parts[k];
    s[t] = a;
    __syncthreads();
    for (int k = TPB / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    const float r = (float)sqrt(s[0]);
    if (first == 0) norm[0] = r;
    const float f = r > limit ? limit / r : 1.0f;
    for (size_t i = first; i < (size_t)n; i += stride) {
        float v = beta * m[i] + f * g[i];
        m[i] = v;
        w[i] -= lr * v;
    }
}

extern "C" void sgdclip(float* w, float* m, const float* g, float* norm, int n, float limit, float lr, float beta) {
    if (n <= 0) return;
    int device = 0, processors = 0, resident = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, clipped_step, TPB, 0);
    int blocks = (int)(((long long)n + TPB - 1) / TPB);
    if (blocks > resident * processors) blocks = resident * processors;
    if (blocks > PARTS) blocks = PARTS;
    void* args[] = {&w, &m, &g, &norm, &n, &limit, &lr, &beta};
    cudaLaunchCooperativeKernel((void*)clipped_step, dim3(blocks), dim3(TPB), args, 0, 0);
}
