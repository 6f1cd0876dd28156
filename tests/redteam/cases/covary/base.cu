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

__global__ void products_of(const float* x, const float* mean, float* cov, int n, int d) {
    __shared__ float left[16][16], right[16][16];
    int a = blockIdx.y * 16 + threadIdx.y, b = blockIdx.x * 16 + threadIdx.x;
    int la = blockIdx.y * 16 + threadIdx.x;
    float ma = la < d ? mean[la] : 0.0f, mb = b < d ? mean[b] : 0.0f;
    double sum = 0.0;
    for (int begin = 0; begin < n; begin += 16) {
        int i = begin + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = i < n && la < d ? x[(size_t)i * d + la] - ma : 0.0f;
        right[threadIdx.y][threadIdx.x] = i < n && b < d ? x[(size_t)i * d + b] - mb : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += (double)left[k][threadIdx.y] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (a < d && b < d) cov[(size_t)a * d + b] = (float)(sum / max(n - 1, 1));
}

extern "C" void covary(const float* x, float* mean, float* cov, int n, int d) {
    means_of<<<d, 256>>>(x, mean, n, d);
    products_of<<<dim3((d + 15) / 16, (d + 15) / 16), dim3(16, 16)>>>(x, mean, cov, n, d);
}
