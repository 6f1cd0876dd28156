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

__global__ void levy(const long long* gross, const int* width, const int* rate, long long* tax, long long* total,
                     int workers, int bands)
{
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= workers) return;
    long long left = gross[w], sum = 0;
    for (int b = 0; b < bands && left > 0; b++) {
        long long part = left;                       // the last band has no upper end
        if (b < bands - 1 && part > width[b]) part = width[b];
        sum += ((unsigned)part * (unsigned)rate[b] + 5000u) / 10000u;      // a band is less than a million wide
        left -= part;
    }
    tax[w] = sum;
    atomicAdd((unsigned long long*)total, (unsigned long long)sum);
}

void payroll(const int* worker, const int* cents, const int* width, const int* rate, long long* gross, long long* tax,
             long long* total, int items, int workers, int bands)
{
    clear<<<(workers + 255) / 256, 256>>>(gross, total, workers);
    collect<<<(items + 255) / 256, 256>>>(worker, cents, gross, items);
    levy<<<(workers + 127) / 128, 128>>>(gross, width, rate, tax, total, workers, bands);
}
