#include <cuda_runtime.h>

__global__ void totals(const unsigned char* x, long long* total, int n, int d) {
    extern __shared__ unsigned char mine[];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    // The rows of a block, side by side.
    for (int e = t; e < 256 * d; e += 256)
        if (blockIdx.x * 256 + e / d < n) mine[e % d * 256 + e / d] = x[(size_t)blockIdx.x * 256 * d + e];
    __syncthreads();
    if (i >= n) return;
    long long sum = 0;
    for (int j = 0; j < n; ++j) {
        int one = 0;
        for (int k = 0; k < d; ++k) one += abs(mine[k * 256 + t] - x[(size_t)j * d + k]);
        sum += one;
    }
    total[i] = sum;
}

__global__ void lowest(const long long* total, int* place, long long* least, int n) {
    int best = 0;
    for (int i = 1; i < n; ++i)
        if (total[i] < total[best]) best = i;
    *place = best;
    *least = total[best];
}

// The row that is nearest to all others, by the sum of absolute differences, the first of equals.
extern "C" void medoid(const unsigned char* x, int* place, long long* least, int n, int d) {
    long long* total;
    cudaMalloc(&total, n * sizeof(long long));
    totals<<<(n + 255) / 256, 256, 256 * d>>>(x, total, n, d);
    lowest<<<1, 1>>>(total, place, least, n);
    cudaFree(total);
}
