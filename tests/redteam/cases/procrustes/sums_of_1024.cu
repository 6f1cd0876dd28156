#include <cuda_runtime.h>

// What the best turn between two clouds of points, pair by pair, is found from: the means of both, the mean of the nine
// products of what is beside them, and the mean square of that for the first.
// A block has 1024 points and writes its sums; a block with a thread for each of them adds those up.
__device__ double whole(double mine, int threads) {
    __shared__ double room[1024];
    room[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 512; half; half /= 2) {
        if (threadIdx.x < half && threadIdx.x + half < threads) room[threadIdx.x] += room[threadIdx.x + half];
        __syncthreads();
    }
    double all = room[0];
    __syncthreads();
    return all;
}

__global__ void means(const float* p, const float* q, double* part, int n) {
    double sum[6] = {};
    for (size_t i = blockIdx.x * 1024ull + threadIdx.x; i < n && i < (blockIdx.x + 1) * 1024ull; i += 256)
        for (int k = 0; k < 3; ++k) sum[k] += p[3 * i + k], sum[3 + k] += q[3 * i + k];
    for (int k = 0; k < 6; ++k) {
        double all = whole(sum[k], 256);
        if (threadIdx.x == 0) part[blockIdx.x * 10 + k] = all;
    }
}

__global__ void products(const float* p, const float* q, const float* sums, double* part, int n) {
    double sum[10] = {};
    for (size_t i = blockIdx.x * 1024ull + threadIdx.x; i < n && i < (blockIdx.x + 1) * 1024ull; i += 256) {
        float a[3], b[3];
        for (int k = 0; k < 3; ++k) a[k] = p[3 * i + k] - sums[k], b[k] = q[3 * i + k] - sums[3 + k];
        for (int k = 0; k < 9; ++k) sum[k] += a[k / 3] * b[k % 3];
        sum[9] += a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    }
    for (int k = 0; k < 10; ++k) {
        double all = whole(sum[k], 256);
        if (threadIdx.x == 0) part[blockIdx.x * 10 + k] = all;
    }
}

__global__ void collect(const double* part, float* sums, int many, int n) {
    for (int k = 0; k < many; ++k) {
        double all = whole(part[threadIdx.x * 10 + k], blockDim.x);
        if (threadIdx.x == 0) sums[k] = all / n;
    }
}

extern "C" void procrustes(const float* p, const float* q, float* sums, int n) {
    static double* part = nullptr;
    static int room = 0;
    int blocks = (n + 1023) / 1024;
    if (room < blocks) {
        cudaFree(part);
        cudaMalloc(&part, blocks * 10 * sizeof(double));
        room = blocks;
    }
    means<<<blocks, 256>>>(p, q, part, n);
    collect<<<1, blocks>>>(part, sums, 6, n);
    products<<<blocks, 256>>>(p, q, sums, part, n);
    collect<<<1, blocks>>>(part, sums + 6, 10, n);
}
