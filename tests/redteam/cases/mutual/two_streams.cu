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
    const int begin = blockIdx.x * PIXELS;
    const int end = min(n, begin + PIXELS);
    for (int i = begin + threadIdx.x; i < end; i += THREADS)
        atomicAdd(&cells[pa[i] * LEVELS + pb[i]], 1);
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
    const int half = pairs / 2, rest = pairs - half;
    const dim3 blocks((n + PIXELS - 1) / PIXELS, rest);
    cudaStream_t side;
    cudaEvent_t fork, done;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaMemsetAsync(joint, 0, (size_t)pairs * CELLS * sizeof(int), 0);
    cudaEventRecord(fork, 0);
    if (half) {
        const long long skip = (long long)rest * n;
        cudaStreamWaitEvent(side, fork, 0);
        joint_histogram<<<dim3(blocks.x, half), THREADS, 0, side>>>(a + skip, b + skip, joint + rest * CELLS, n);
        information<<<half, THREADS, 0, side>>>(joint + rest * CELLS, mi + rest, n);
        cudaEventRecord(done, side);
    }
    joint_histogram<<<blocks, THREADS>>>(a, b, joint, n);
    information<<<rest, THREADS>>>(joint, mi, n);
    if (half)
        cudaStreamWaitEvent(0, done, 0);
    cudaEventDestroy(fork);
    cudaEventDestroy(done);
    cudaStreamDestroy(side);
}
