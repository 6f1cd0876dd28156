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
    extern __shared__ long long table[];                 // where each band begins, and the tax of all before it
    long long *begin = table, *paid = table + bands;
    if (threadIdx.x == 0) {
        long long b0 = 0, p0 = 0;
        for (int b = 0; b < bands; b++) {
            begin[b] = b0;
            paid[b] = p0;
            b0 += width[b];
            p0 += ((long long)width[b] * rate[b] + 5000) / 10000;
        }
    }
    __syncthreads();
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    long long sum = 0;
    if (w < workers) {
        long long g = gross[w];
        if (g > 0) {
            int low = 0, high = bands - 1;               // the last band that begins at or before the pay
            while (low < high) {
                int mid = (low + high + 1) / 2;
                if (begin[mid] <= g) low = mid;
                else high = mid - 1;
            }
            sum = paid[low] + ((g - begin[low]) * rate[low] + 5000) / 10000;
        }
        tax[w] = sum;
    }
    for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (threadIdx.x % 32 == 0 && sum) atomicAdd((unsigned long long*)total, (unsigned long long)sum);
}

void payroll(const int* worker, const int* cents, const int* width, const int* rate, long long* gross, long long* tax,
             long long* total, int items, int workers, int bands)
{
    clear<<<(workers + 255) / 256, 256>>>(gross, total, workers);
    collect<<<(items + 255) / 256, 256>>>(worker, cents, gross, items);
    levy<<<(workers + 127) / 128, 128, 2 * bands * sizeof(long long)>>>(gross, width, rate, tax, total, workers, bands);
}
