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

// The sum and the row it is of in one word, of which the lowest stays.
__global__ void packed(const unsigned char* x, unsigned long long* low, int n, int d) {
    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    unsigned long long sum = 0;
    for (int j = lane; j < n; j += 32) {
        unsigned one = 0;
        for (int k = 0; k < d; ++k) one = __sad(x[(size_t)i * d + k], x[(size_t)j * d + k], one);
        sum += one;
    }
    for (int s = 16; s; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (lane == 0) atomicMin(low, sum << 24 | i);
}

__global__ void unpacked(const unsigned long long* low, int* place, long long* least) {
    *place = (int)(*low & 0xffffffu);
    *least = (long long)(*low >> 24);
}

// The row that is nearest to all others, by the sum of absolute differences, the first of equals.
extern "C" void medoid(const unsigned char* x, int* place, long long* least, int n, int d) {
    if (n > 1 << 24 || (double)n * d > 4e9) {
        long long* total;
        cudaMalloc(&total, n * sizeof(long long));
        totals<<<(n + 63) / 64, 64>>>(x, total, n, d);
        lowest<<<1, 1>>>(total, place, least, n);
        cudaFree(total);
        return;
    }
    unsigned long long* low;
    cudaMalloc(&low, sizeof(unsigned long long));
    cudaMemset(low, 0xff, sizeof(unsigned long long));
    packed<<<(n + 7) / 8, 256>>>(x, low, n, d);
    unpacked<<<1, 1>>>(low, place, least);
    cudaFree(low);
}
