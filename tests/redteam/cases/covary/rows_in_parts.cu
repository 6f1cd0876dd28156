#include <cuda_runtime.h>
// Means and covariances of the columns of a table of n rows. The means are taken off before anything is multiplied, and
// products are summed as doubles.
__global__ void means_of(const float* x, float* mean, int n, int d) {
    __shared__ double part[256];
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += 256) sum += x[(size_t)i * d + blockIdx.x];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) mean[blockIdx.x] = (float)(part[0] / n);
}

// The rows come in parts of 1024, whose sums of products are added to those of the others.
__global__ void __launch_bounds__(256) products_of(const float* __restrict__ x, const float* __restrict__ mean,
                                                   double* __restrict__ sums, int n, int d) {
    __shared__ float left[16][16], right[16][16];
    if (blockIdx.y > blockIdx.x) return;
    int a = blockIdx.y * 16 + threadIdx.y, b = blockIdx.x * 16 + threadIdx.x;
    int la = blockIdx.y * 16 + threadIdx.x;
    float ma = la < d ? mean[la] : 0.0f, mb = b < d ? mean[b] : 0.0f;
    for (long long part = blockIdx.z; part * 1024 < n; part += gridDim.z) {
        int from = (int)(part * 1024), to = min((long long)n, part * 1024 + 1024);
        double sum = 0.0;
        for (int begin = from; begin < to; begin += 16) {
            int i = begin + threadIdx.y;
            left[threadIdx.y][threadIdx.x] = i < to && la < d ? x[(size_t)i * d + la] - ma : 0.0f;
            right[threadIdx.y][threadIdx.x] = i < to && b < d ? x[(size_t)i * d + b] - mb : 0.0f;
            __syncthreads();
#pragma unroll
            for (int k = 0; k < 16; ++k) sum += (double)left[k][threadIdx.y] * right[k][threadIdx.x];
            __syncthreads();
        }
        if (a < d && b < d) atomicAdd(&sums[(size_t)a * d + b], sum);
    }
}

__global__ void finish(const double* sums, float* cov, int n, int d) {
    size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
    if (i >= (size_t)d * d) return;
    size_t a = i / d, b = i % d, at = a < b ? a * d + b : b * d + a;
    cov[i] = (float)(sums[at] / max(n - 1, 1));
}

extern "C" void covary(const float* x, float* mean, float* cov, int n, int d) {
    double* sums = nullptr;
    size_t bytes = sizeof(double) * d * d;
    cudaMallocAsync(&sums, bytes, 0);
    cudaMemsetAsync(sums, 0, bytes, 0);
    means_of<<<d, 256>>>(x, mean, n, d);
    int parts = n / 1024 + 1, across = (d + 15) / 16;
    products_of<<<dim3(across, across, parts < 256 ? parts : 256), dim3(16, 16)>>>(x, mean, sums, n, d);
    finish<<<(unsigned)(((size_t)d * d + 255) / 256), 256>>>(sums, cov, n, d);
    cudaFreeAsync(sums, 0);
}
