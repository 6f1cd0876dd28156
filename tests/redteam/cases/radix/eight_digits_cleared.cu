#include <cuda_runtime.h>
#define THREADS 256
#define DIGITS 16

// One pass of a radix sort: keys in the order of four of their bits, equal ones as they came.
__global__ void count_digits(const unsigned* key, int* counts, int n, int shift, int blocks) {
    __shared__ int digits[DIGITS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    if (t < DIGITS / 2) digits[t] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&digits[key[i] >> shift & 15u], 1);
    __syncthreads();
    if (t < DIGITS) counts[t * blocks + blockIdx.x] = digits[t];
}

__global__ void begin_digits(int* counts, int total) {
    __shared__ int part[THREADS];
    int t = threadIdx.x, each = (total + THREADS - 1) / THREADS, sum = 0;
    for (int i = t * each; i < min(total, (t + 1) * each); ++i) sum += counts[i];
    part[t] = sum;
    __syncthreads();
    for (int d = 1; d < THREADS; d *= 2) {
        int before = t >= d ? part[t - d] : 0;
        __syncthreads();
        part[t] += before;
        __syncthreads();
    }
    sum = part[t] - sum;
    for (int i = t * each; i < min(total, (t + 1) * each); ++i) {
        int mine = counts[i];
        counts[i] = sum;
        sum += mine;
    }
}

__global__ void place(const unsigned* key, const int* counts, unsigned* sorted, int n, int shift,
                      int blocks) {
    __shared__ unsigned char digit[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    if (i < n) digit[t] = key[i] >> shift & 15u;
    __syncthreads();
    if (i >= n) return;
    int rank = 0;
    for (int j = 0; j < t; ++j) rank += digit[j] == digit[t];
    sorted[counts[digit[t] * blocks + blockIdx.x] + rank] = key[i];
}

extern "C" void radix(const unsigned* key, unsigned* sorted, int n, int shift) {
    int blocks = (n + THREADS - 1) / THREADS;
    int* counts;
    cudaMalloc(&counts, blocks * DIGITS * sizeof(int));
    count_digits<<<blocks, THREADS>>>(key, counts, n, shift, blocks);
    begin_digits<<<1, THREADS>>>(counts, blocks * DIGITS);
    place<<<blocks, THREADS>>>(key, counts, sorted, n, shift, blocks);
    cudaFree(counts);
}
