// Pay slips to gross pay per worker, progressive tax band by band (half a cent rounds up), and the sum of the tax.
#include <cuda_runtime.h>

__global__ void clear(long long* gross, long long* total, int workers)
{
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w < workers) gross[w] = 0;
    if (w == 0) total[0] = 0;
}

__global__ void collect(const int* worker, const int* cents, long long* gross, int items)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < items)
        atomicAdd((unsigned long long*)&gross[worker[i]], (unsigned long long)(long long)cents[i]);
}

// A warp for each worker, a band for each lane.
__global__ void levy(const long long* gross, const int* width, const int* rate, long long* tax, long long* total,
                     int workers, int bands)
{
    int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (w >= workers) return;
    bool top = lane >= bands - 1;
    long long wide = lane < bands ? width[lane] : 0, end = wide;
    for (int s = 1; s < 32; s *= 2) {
        long long below = __shfl_up_sync(0xffffffffu, end, s);
        if (lane >= s) end += below;
    }
    long long part = gross[w] - (end - wide), sum = 0;
    if (!top && part > wide) part = wide;
    if (lane < bands && part > 0) sum = (part * rate[lane] + 5000) / 10000;
    for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) {
        tax[w] = sum;
        atomicAdd((unsigned long long*)total, (unsigned long long)sum);
    }
}

void payroll(const int* worker, const int* cents, const int* width, const int* rate, long long* gross, long long* tax,
             long long* total, int items, int workers, int bands)
{
    clear<<<(workers + 255) / 256, 256>>>(gross, total, workers);
    collect<<<(items + 255) / 256, 256>>>(worker, cents, gross, items);
    levy<<<(workers + 3) / 4, 128>>>(gross, width, rate, tax, total, workers, bands);
}
