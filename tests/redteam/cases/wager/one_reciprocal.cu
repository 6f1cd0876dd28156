// Bookmaker's book: share[i] = (1 / odds[i]) / sum_j (1 / odds[j]), the sum in double, and the favourite, the first
// index with the smallest odds (NaN never is; -1 if there is none).
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int MOST = 512;          // blocks of the first pass

struct Part {
    double sum;
    float odds;
    int at;
};

__device__ __forceinline__ void shorter(float& odds, int& at, float other, int place)
{
    if (place >= 0 && (at < 0 || other < odds || (other == odds && place < at))) {
        odds = other;
        at = place;
    }
}

// Sum and favourite of a block's threads, in thread 0.
__device__ __forceinline__ void merge(double& sum, float& odds, int& at)
{
    __shared__ double sums[THREADS / 32];
    __shared__ float lows[THREADS / 32];
    __shared__ int places[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(~0u, sum, step);
        shorter(odds, at, __shfl_down_sync(~0u, odds, step), __shfl_down_sync(~0u, at, step));
    }
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        lows[threadIdx.x / 32] = odds;
        places[threadIdx.x / 32] = at;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < THREADS / 32; w++) {
            sum += sums[w];
            shorter(odds, at, lows[w], places[w]);
        }
}

__global__ void gather(const float* odds, Part* parts, int n)
{
    double sum = 0;
    float low = 0;
    int at = -1;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        float o = odds[i];
        sum += 1.0f / o;
        if (o == o)
            shorter(low, at, o, i);
    }
    merge(sum, low, at);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = Part{sum, low, at};
}

__global__ void settle(Part* parts, int count, int* favourite)
{
    double sum = 0;
    float low = 0;
    int at = -1;
    for (int p = threadIdx.x; p < count; p += THREADS) {
        sum += parts[p].sum;
        shorter(low, at, parts[p].odds, parts[p].at);
    }
    merge(sum, low, at);
    if (threadIdx.x == 0) {
        parts[MOST].sum = 1.0 / sum;
        favourite[0] = at;
    }
}

__global__ void divide(const float* odds, const Part* parts, float* share, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        share[i] = (float)((double)(1.0f / odds[i]) * parts[MOST].sum);
}

extern "C" void wager(const float* odds, float* share, int* favourite, int n)
{
    static Part* parts = nullptr;
    if (!parts)
        cudaMalloc(&parts, (MOST + 1) * sizeof(Part));
    int blocks = (n + THREADS - 1) / THREADS;
    int first = blocks < MOST ? blocks : MOST;
    gather<<<first, THREADS>>>(odds, parts, n);
    settle<<<1, THREADS>>>(parts, first, favourite);
    divide<<<blocks, THREADS>>>(odds, parts, share, n);
}
