// Mutual information of pairs of images of 64 grey levels, by which images are registered: the joint histogram of each
// pair, and sum p(i,j) log(p(i,j) / (p(i) p(j))).
#include <cuda_runtime.h>
#include <stdint.h>

constexpr int LEVELS = 64;
constexpr int CELLS = LEVELS * LEVELS;
constexpr int THREADS = 256;
constexpr int PIXELS = 4096;                    // of a block

__global__ void joint_histogram(const uint8_t* a, const uint8_t* b, int* joint, int n)
{
    const long long base = (long long)blockIdx.y * n;
    const uint8_t* pa = a + base;
    const uint8_t* pb = b + base;
    int* cells = joint + (long long)blockIdx.y * CELLS;
    __shared__ unsigned own[CELLS / 2];         // two counters in a word
    for (int c = threadIdx.x; c < CELLS / 2; c += THREADS)
        own[c] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        const int c = pa[i] * LEVELS + pb[i];
        atomicAdd(&own[c / 2], 1u << (c % 2 * 16));
    }
    __syncthreads();
    for (int c = threadIdx.x; c < CELLS; c += THREADS) {
        const int count = own[c / 2] >> (c % 2 * 16) & 0xffff;
        if (count)
            atomicAdd(&cells[c], count);
    }
}

__global__ void information(const int* joint, float* mi, int n)
{
    __shared__ int row[LEVELS];
    __shared__ int column[LEVELS];
    __shared__ double part[THREADS];
    const int t = threadIdx.x;
    const int* cells = joint + (long long)blockIdx.x * CELLS;
    if (t < LEVELS) {
        int sum = 0;
        for (int j = 0; j < LEVELS; ++j)
            sum += cells[t * LEVELS + j];
        row[t] = sum;
    } else if (t < 2 * LEVELS) {
        int sum = 0;
        for (int i = 0; i < LEVELS; ++i)
            sum += cells[i * LEVELS + t - LEVELS];
        column[t - LEVELS] = sum;
    }
    __syncthreads();

    double sum = 0.0;
    for (int c = t; c < CELLS; c += THREADS) {
        const double count = cells[c];
        if (count > 0.0)
            sum += count / n * log(count * n / ((double)row[c / LEVELS] * column[c % LEVELS]));
    }
    part[t] = sum;
    for (int d = THREADS / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d)
            part[t] += part[t + d];
    }
    if (t == 0)
        mi[blockIdx.x] = (float)part[0];
}

void mutual(const uint8_t* a, const uint8_t* b, int* joint, float* mi, int pairs, int n)
{
    cudaMemsetAsync(joint, 0, (size_t)pairs * CELLS * sizeof(int), 0);
    joint_histogram<<<dim3(min((n + PIXELS - 1) / PIXELS, 8), pairs), THREADS>>>(a, b, joint, n);
    information<<<pairs, THREADS>>>(joint, mi, n);
}
