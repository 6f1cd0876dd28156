#include <cstdint>

// sum over a block of 256 threads, for thread 0
__device__ int64_t together(int64_t v) {
    __shared__ int64_t part[256];
    __syncthreads();
    part[threadIdx.x] = v;
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    }
    __syncthreads();
    return part[0];
}

// per row the sum and the sum of all differences between two, of which Gini's coefficient is the quotient
__global__ void gini(const int* income, int64_t* total, int64_t* spread, int rows, int n) {
    const int* x = income + (size_t)blockIdx.x * n;
    int64_t sum = 0, apart = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
    int64_t pairs = (int64_t)n * (n - 1) / 2;
    for (int64_t p = threadIdx.x; p < pairs; p += blockDim.x) {
        // pair p is (j, i) with j < i, p = i(i-1)/2 + j
        int i = (int)((1 + sqrtf((float)(8 * p + 1))) / 2);
        int j = (int)(p - (int64_t)i * (i - 1) / 2);
        apart += abs(x[i] - x[j]);
    }
    sum = together(sum);
    apart = together(apart);
    if (threadIdx.x == 0) {
        total[blockIdx.x] = sum;
        spread[blockIdx.x] = apart;
    }
}
