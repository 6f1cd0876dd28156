#include <cuda_runtime.h>
#define THREADS 256
#define EACH 8

// How many of a block are kept, and how many before this thread, in the order of the threads.
__device__ int ranked(int mine, int* all) {
    __shared__ int part[8];
    int t = threadIdx.x, lane = t % 32, upto = mine;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffffu, upto, d);
        if (lane >= d) upto += left;
    }
    if (lane == 31) part[t / 32] = upto;
    __syncthreads();
    int before = upto - mine, sum = 0;
    for (int k = 0; k < 8; ++k) {
        if (k < t / 32) before += part[k];
        sum += part[k];
    }
    *all = sum;
    return before;
}

// The numbers that are not negative, in their order, and how many they are.
__global__ void counted(const int* x, int* start, int n) {
    size_t i = (blockIdx.x * (size_t)THREADS + threadIdx.x) * EACH;
    int mine = 0, all;
    for (int e = 0; e < EACH; ++e) mine += i + e < n && x[i + e] >= 0;
    ranked(mine, &all);
    if (threadIdx.x == 0) start[blockIdx.x] = all;
}

__global__ void begun(int* start, int* count, int blocks) {
    int sum = 0;
    for (int k = 0; k < blocks; ++k) {
        int all = start[k];
        start[k] = sum;
        sum += all;
    }
    *count = sum;
}

__global__ void written(const int* x, const int* start, int* out, int n) {
    size_t i = (blockIdx.x * (size_t)THREADS + threadIdx.x) * EACH;
    int mine = 0, all;
    for (int e = 0; e < EACH; ++e) mine += i + e < n && x[i + e] >= 0;
    int to = start[blockIdx.x] + ranked(mine, &all);
    for (int e = 0; e < EACH; ++e)
        if (i + e < n && x[i + e] >= 0) out[to++] = x[i + e];
}

extern "C" void keep(const int* x, int* out, int* count, int n) {
    int blocks = (int)(((long long)n + THREADS * EACH - 1) / (THREADS * EACH));
    int* start;
    cudaMalloc(&start, blocks * sizeof(int));
    counted<<<blocks, THREADS>>>(x, start, n);
    begun<<<1, 1>>>(start, count, blocks);
    written<<<blocks, THREADS>>>(x, start, out, n);
    cudaFree(start);
}
