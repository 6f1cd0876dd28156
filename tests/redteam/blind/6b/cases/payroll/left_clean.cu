// Pay slips to gross pay per worker, progressive tax band by band (half a cent rounds up), and the sum of the tax.
#include <cuda_runtime.h>

// The sums are kept in a table of our own that the tax pass leaves at zero for the next call.
__global__ void collect(const int* worker, const int* cents, long long* table, long long* total, int items)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < items)
        atomicAdd((unsigned long long*)&table[worker[i]], (unsigned long long)(long long)cents[i]);
    if (i == 0) total[0] = 0;
}

__global__ void levy(long long* table, long long* gross, const int* width, const int* rate, long long* tax,
                     long long* total, int workers, int bands)
{
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= workers) return;
    long long left = table[w], sum = 0;
    gross[w] = left;
    tax[w] = 0;
    if (left <= 0) return;
    table[w] = 0;
    for (int b = 0; b < bands && left > 0; b++) {
        long long part = left;                       // the last band has no upper end
        if (b < bands - 1 && part > width[b]) part = width[b];
        sum += (part * rate[b] + 5000) / 10000;
        left -= part;
    }
    tax[w] = sum;
    atomicAdd((unsigned long long*)total, (unsigned long long)sum);
}

void payroll(const int* worker, const int* cents, const int* width, const int* rate, long long* gross, long long* tax,
             long long* total, int items, int workers, int bands)
{
    static long long* table = nullptr;
    static int room = 0;
    if (workers > room) {
        if (table) cudaFree(table);
        room = workers;
        cudaMalloc(&table, room * sizeof *table);
        cudaMemset(table, 0, room * sizeof *table);
    }
    collect<<<(items + 255) / 256, 256>>>(worker, cents, table, total, items);
    levy<<<(workers + 127) / 128, 128>>>(table, gross, width, rate, tax, total, workers, bands);
}
