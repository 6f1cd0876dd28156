// Layers of nacre: y starts as x; in each of `layers` rounds y is scaled to the length `gain` and bias is added. The length is summed in
// double. A layer of length 0 stays 0 before the bias.
#include <cuda_runtime.h>

__device__ __forceinline__ double block_sum(double s, double* buf) {   // valid in thread 0
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) buf[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 1; k < 8; ++k) s += buf[k];
    return s;
}

__global__ void squares(const float* __restrict__ y, double* __restrict__ part, int n) {
    __shared__ double buf[8];
    double s = 0.0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        double v = y[i];
        s += v * v;
    }
    s = block_sum(s, buf);
    if (threadIdx.x == 0) part[blockIdx.x] = s;
}

__global__ void scale(const double* __restrict__ part, int parts, float gain, float* __restrict__ factor) {
    __shared__ double buf[8];
    double s = 0.0;
    for (int k = threadIdx.x; k < parts; k += 256) s += part[k];
    s = block_sum(s, buf);
    if (threadIdx.x == 0) *factor = s > 0.0 ? (float)(gain / sqrt(s)) : 0.0f;
}

__global__ void coat(float* __restrict__ y, const float* __restrict__ bias, const float* __restrict__ factor, int n) {
    float f = *factor;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) y[i] = fmaf(f, y[i], bias[i]);
}

// The length of a layer is needed by the next one only. Each coat is laid in halves, the upper half on a stream of its own.
static cudaStream_t side() {
    static cudaStream_t s = nullptr;
    if (!s) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    return s;
}

static cudaEvent_t mark(int k) {
    static cudaEvent_t e[2] = {nullptr, nullptr};
    if (!e[k]) cudaEventCreateWithFlags(&e[k], cudaEventDisableTiming);
    return e[k];
}

extern "C" void nacre(const float* x, const float* bias, float* y, int n, int layers, float gain) {
    if (n <= 0) return;
    int grid = (n + 1023) / 1024;
    if (grid > 512) grid = 512;
    double* part;
    float* factor;
    cudaMallocAsync((void**)&part, sizeof(double) * grid, 0);
    cudaMallocAsync((void**)&factor, sizeof(float), 0);
    cudaMemcpyAsync(y, x, sizeof(float) * (size_t)n, cudaMemcpyDeviceToDevice, 0);
    for (int k = 0; k < layers; ++k) {
        if (k > 0) cudaStreamWaitEvent(0, mark(1), 0);
        squares<<<grid, 256>>>(y, part, n);
        scale<<<1, 256>>>(part, grid, gain, factor);
        int half = n / 2;
        cudaEventRecord(mark(0), 0);
        cudaStreamWaitEvent(side(), mark(0), 0);
        if (half > 0) coat<<<grid, 256>>>(y, bias, factor, half);
        coat<<<grid, 256, 0, side()>>>(y + half, bias + half, factor, n - half);
        cudaEventRecord(mark(1), side());
    }
    if (layers > 0) cudaStreamWaitEvent(0, mark(1), 0);
    cudaFreeAsync(part, 0);
    cudaFreeAsync(factor, 0);
}
