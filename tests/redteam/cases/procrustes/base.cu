#include <cuda_runtime.h>

// What the best turn between two clouds of points, pair by pair, is found from: the means of both, the mean of the nine
// products of what is beside them, and the mean square of that for the first.
__device__ void add(float* to, float mine) {
    __shared__ float room[256];
    room[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(to, room[0]);
    __syncthreads();
}

__global__ void means(const float* p, const float* q, float* sums, int n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 3; ++k) {
        add(&sums[k], i < n ? p[3 * i + k] : 0);
        add(&sums[3 + k], i < n ? q[3 * i + k] : 0);
    }
}

__global__ void products(const float* p, const float* q, float* sums, int n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float a[3] = {}, b[3] = {};
    for (int k = 0; k < 3 && i < n; ++k) a[k] = p[3 * i + k] - sums[k] / n, b[k] = q[3 * i + k] - sums[3 + k] / n;
    for (int k = 0; k < 9; ++k) add(&sums[6 + k], a[k / 3] * b[k % 3]);
    add(&sums[15], a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

__global__ void divide(float* sums, int n) { sums[threadIdx.x] /= n; }

extern "C" void procrustes(const float* p, const float* q, float* sums, int n) {
    cudaMemset(sums, 0, 16 * sizeof(float));
    means<<<(n + 255) / 256, 256>>>(p, q, sums, n);
    products<<<(n + 255) / 256, 256>>>(p, q, sums, n);
    divide<<<1, 16>>>(sums, n);
}
