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

// sorts m values, a power of two from 64 on; 32 threads exchange within 64 values where they are near enough
__device__ void sort(int* v, int m) {
    for (int size = 2; size <= m; size <<= 1)
        for (int step = size >> 1; step > 0; step >>= 1) {
            for (int t = threadIdx.x; t < m / 2; t += blockDim.x) {
                int i = t / step * 2 * step + t % step, k = i + step;
                int a = v[i], b = v[k];
                if ((a > b) == ((i & size) == 0)) {
                    v[i] = b;
                    v[k] = a;
                }
            }
            int next = step > 1 ? step >> 1 : size;
            if (step > 32 || next > 32)
                __syncthreads();
            else
                __syncwarp();
        }
    __syncthreads();
}

// per row the sum and the sum of all differences between two, of which Gini's coefficient is the quotient
__global__ void gini(const int* income, int64_t* total, int64_t* spread, int rows, int n) {
    __shared__ int v[8192];
    const int* x = income + (size_t)blockIdx.x * n;
    int64_t sum = 0, apart = 0;
    int m = 64;
    while (m < n) m <<= 1;
    if (m <= 8192) {
        for (int i = threadIdx.x; i < m; i += blockDim.x) v[i] = i < n ? x[i] : 0x7fffffff;
        __syncthreads();
        sort(v, m);
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            sum += v[i];
            apart += (int64_t)v[i] * (2 * i - n + 1);
        }
    } else {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            int a = x[i];
            sum += a;
            for (int j = i + 1; j < n; ++j) apart += abs(a - x[j]);
        }
    }
    sum = together(sum);
    apart = together(apart);
    if (threadIdx.x == 0) {
        total[blockIdx.x] = sum;
        spread[blockIdx.x] = apart;
    }
}
