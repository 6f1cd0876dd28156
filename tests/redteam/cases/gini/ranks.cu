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
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int a = x[i];
        sum += a;
        int below = 0;
        for (int j = 0; j < i; ++j) below += x[j] <= a;
        for (int j = i + 1; j < n; ++j) below += x[j] < a;
        apart += (int64_t)a * (2 * below - n + 1);
    }
    sum = together(sum);
    apart = together(apart);
    if (threadIdx.x == 0) {
        total[blockIdx.x] = sum;
        spread[blockIdx.x] = apart;
    }
}
