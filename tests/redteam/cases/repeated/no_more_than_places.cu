#include <cuda_runtime.h>

// Each number as often as its count says, one after the other; -1 where nothing is left, and no more than fit.
__global__ void within(const int* times, int* end, int* total, int n) {
    __shared__ int sum[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sum[t] = i < n ? times[i] : 0;
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        int v = t >= d ? sum[t - d] : 0;
        __syncthreads();
        sum[t] += v;
    }
    if (i < n) end[i] = sum[t];
    if (t == 255) total[blockIdx.x] = sum[t];
}

__global__ void starts(int* total, int blocks) {
    int sum = 0;
    for (int b = 0; b < blocks; ++b) {
        int own = total[b];
        total[b] = sum;
        sum += own;
    }
}

__global__ void shifted(int* end, const int* total, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) end[i] += total[blockIdx.x];
}

// The first of those from `low` on whose end is beyond j; `high` where there is none before it.
__device__ int owner(const int* end, int low, int high, int j) {
    while (low < high) {
        int i = (low + high) / 2;
        if (end[i] > j)
            high = i;
        else
            low = i + 1;
    }
    return low;
}

// A block looks for the first that its places belong to; there are no more than places.
__global__ void copied(const int* x, const int* end, int* y, int n, int m) {
    __shared__ int kept[256], begins;
    int t = threadIdx.x, begin = blockIdx.x * 256, j = begin + t;
    if (t == 0) begins = owner(end, 0, n, begin);
    __syncthreads();
    int first = begins, many = min(256, n - first);
    if (t < many) kept[t] = end[first + t];
    __syncthreads();
    if (j >= m) return;
    int low = first + owner(kept, 0, many, j);
    y[j] = low < n ? x[low] : -1;
}

extern "C" void repeated(const int* x, const int* times, int* y, int n, int m) {
    int blocks = (n + 255) / 256, *end, *total;
    cudaMalloc(&end, n * sizeof(int));
    cudaMalloc(&total, blocks * sizeof(int));
    within<<<blocks, 256>>>(times, end, total, n);
    starts<<<1, 1>>>(total, blocks);
    shifted<<<blocks, 256>>>(end, total, n);
    copied<<<(m + 255) / 256, 256>>>(x, end, y, n, m);
    cudaFree(end);
    cudaFree(total);
}
