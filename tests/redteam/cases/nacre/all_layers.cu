// Layers of nacre: y starts as x; in each of `layers` rounds y is scaled to the length `gain` and bias is added. The length is summed in
// double. A layer of length 0 stays 0 before the bias.
#include <cuda_runtime.h>

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ __forceinline__ double block_sum(double s, double* buf) {   // valid in thread 0
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) buf[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 1; k < 8; ++k) s += buf[k];
    return s;
}

// All layers in one launch. Sums go to two rows of parts in turn, so that one grid barrier per layer is enough; every block adds the
// parts up for itself.
__global__ void __launch_bounds__(256) nacreous(const float* x, const float* __restrict__ bias, float* y, double* part, int n, int layers,
                                                float gain) {
    __shared__ double buf[8];
    __shared__ float factor;
    cg::grid_group all = cg::this_grid();
    double s = 0.0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        float v = x[i];
        y[i] = v;
        s += (double)v * v;
    }
    for (int k = 0; k < layers; ++k) {
        double* row = part + (k & 1) * gridDim.x;
        s = block_sum(s, buf);
        if (threadIdx.x == 0) row[blockIdx.x] = s;
        all.sync();
        s = 0.0;
        for (int b = threadIdx.x; b < (int)gridDim.x; b += 256) s += __ldcg(&row[b]);
        s = block_sum(s, buf);
        if (threadIdx.x == 0) factor = s > 0.0 ? (float)(gain / sqrt(s)) : 0.0f;
        __syncthreads();
        float f = factor;
        s = 0.0;
        for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
            float v = fmaf(f, y[i], bias[i]);
            y[i] = v;
            s += (double)v * v;
        }
    }
}

extern "C" void nacre(const float* x, const float* bias, float* y, int n, int layers, float gain) {
    if (n <= 0) return;
    int device = 0, sms = 0, fit = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, nacreous, 256, 0);
    int grid = (n + 1023) / 1024;
    if (grid > sms * fit) grid = sms * fit;
    double* part;
    cudaMallocAsync((void**)&part, 2 * sizeof(double) * grid, 0);
    void* args[] = {&x, &bias, &y, &part, &n, &layers, &gain};
    cudaLaunchCooperativeKernel((void*)nacreous, dim3(grid), dim3(256), args, 0, 0);
    cudaFreeAsync(part, 0);
}
