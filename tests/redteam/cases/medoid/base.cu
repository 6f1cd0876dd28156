#include <cuda_runtime.h>

__global__ void totals(const unsigned char* x, long long* total, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long sum = 0;
    for (int j = 0; j < n; ++j)
        for (int k = 0; k < d; ++k) sum += abs(x[(size_t)i * d + k] - x[(size_t)j * d + k]);
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
    totals<<<(n + 63) / 64, 64>>>(x, total, n, d);
    lowest<<<1, 1>>>(total, place, least, n);
    cudaFree(total);
}
