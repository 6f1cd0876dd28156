#include <cuda_runtime.h>
// Means and covariances of the columns of a table of n rows. All sums come
// from one reading of the table: a covariance is the mean product less the product of the means.
__global__ void sums_of(const float* __restrict__ x, float* __restrict__ mean, int n, int d) {
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

__global__ void __launch_bounds__(256)
    products_of(const float* __restrict__ x, float* __restrict__ cov, int n, int d) {
    __shared__ float left[32][16], right[32][16];
    if (blockIdx.y > blockIdx.x) return;
    int a = blockIdx.y * 16 + threadIdx.y, b = blockIdx.x * 16 + threadIdx.x;
    int la = blockIdx.y * 16 + threadIdx.x;
    double sum = 0.0, sa = 0.0, sb = 0.0;
    for (int begin = 0; begin < n; begin += 32) {
        for (int r = threadIdx.y; r < 32; r += 16) {
            int i = begin + r;
            left[r][threadIdx.x] = i < n && la < d ? x[(size_t)i * d + la] : 0.0f;
            right[r][threadIdx.x] = i < n && b < d ? x[(size_t)i * d + b] : 0.0f;
        }
        __syncthreads();
        float part = 0.0f, pa = 0.0f, pb = 0.0f;
#pragma unroll
        for (int k = 0; k < 32; ++k) {
            float u = left[k][threadIdx.y], v = right[k][threadIdx.x];
            part = fmaf(u, v, part);
            pa += u;
            pb += v;
        }
        sum += part, sa += pa, sb += pb;
        __syncthreads();
    }
    if (a < d && b < d) {
        float value = (float)((sum - sa * sb / n) / max(n - 1, 1));
        cov[(size_t)a * d + b] = value;
        if (blockIdx.y < blockIdx.x) cov[(size_t)b * d + a] = value;
    }
}

extern "C" void covary(const float* x, float* mean, float* cov, int n, int d) {
    sums_of<<<d, 256>>>(x, mean, n, d);
    products_of<<<dim3((d + 15) / 16, (d + 15) / 16), dim3(16, 16)>>>(x, cov, n, d);
}
