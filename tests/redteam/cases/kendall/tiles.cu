// Kendall's rank statistics of d features against one target: for each feature the concordant less the discordant
// pairs, the pairs tied in the feature, and the pairs tied in both.
#include <cuda_runtime.h>

__global__ void clear(long long* out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 0;
}

__global__ void count_pairs(const int* x, const int* y, long long* out, int n)
{
    __shared__ int tx[128], ty[128];
    int f = blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int* column = x + (size_t)f * n;
    int xi = i < n ? column[i] : 0, yi = i < n ? y[i] : 0;
    int score = 0, tied = 0, both = 0;
    for (int from = blockIdx.x * 128; from < n; from += 128) {
        int j = from + threadIdx.x;
        __syncthreads();
        if (j < n) {
            tx[threadIdx.x] = column[j];
            ty[threadIdx.x] = y[j];
        }
        __syncthreads();
        int first = i + 1 > from ? i + 1 - from : 0, last = n - from < 128 ? n - from : 128;
        for (int k = first; k < last; k++) {
            int same = xi == tx[k], level = yi == ty[k];
            tied += same;
            both += same & level;
            score += (same | level) ? 0 : ((xi < tx[k]) == (yi < ty[k]) ? 1 : -1);
        }
    }
    for (int half = 16; half > 0; half >>= 1) {
        score += __shfl_down_sync(0xffffffffu, score, half);
        tied += __shfl_down_sync(0xffffffffu, tied, half);
        both += __shfl_down_sync(0xffffffffu, both, half);
    }
    if (threadIdx.x % 32) return;
    unsigned long long* o = (unsigned long long*)(out + (size_t)f * 3);
    atomicAdd(&o[0], (unsigned long long)(long long)score);
    atomicAdd(&o[1], (unsigned long long)tied);
    atomicAdd(&o[2], (unsigned long long)both);
}

void kendall(const int* x, const int* y, long long* out, int d, int n)
{
    clear<<<(d * 3 + 127) / 128, 128>>>(out, d * 3);
    dim3 grid((n + 127) / 128, d);
    count_pairs<<<grid, 128>>>(x, y, out, n);
}
