// The level of a pond after each step: inflow is added, what exceeds the capacity is spilled, what is
// missing below empty is counted as shortage. totals[0]: all spilled, totals[1]: all missing.
// A run of steps maps a level x to min(high, max(low, x + add)); such maps compose.
#include <cuda_runtime.h>
#include <cstdint>

#define CHUNK 64
#define PARTS 1024

struct Run {
    int add;
    int low, high;
};

__device__ __forceinline__ int apply(Run f, int x)
{
    int y = x + f.add;
    return (int)(y < f.low ? f.low : (y > f.high ? f.high : y));
}

// f, then g
__device__ __forceinline__ Run after(Run f, Run g)
{
    Run h;
    h.add = f.add + g.add;
    h.low = apply(g, f.low);
    h.high = apply(g, f.high);
    return h;
}

__device__ __forceinline__ Run step(int flow, int cap)
{
    Run f;
    f.add = flow;
    f.low = 0;
    f.high = cap;
    return f;
}

__global__ void chunk_kernel(const int* __restrict__ flow, Run* __restrict__ runs, int n, int cap, int chunks)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    int first = c * CHUNK, last = min(n, first + CHUNK);
    Run all = step(0, cap);
    for (int k = first; k < last; ++k) all = after(all, step(flow[k], cap));
    runs[c] = all;
}

__global__ void entry_kernel(const Run* __restrict__ runs, int* __restrict__ entry, int* __restrict__ poured,
                             int chunks, int cap, int start)
{
    __shared__ Run part[PARTS];
    __shared__ int level_at[PARTS];
    int t = threadIdx.x;
    int per = (chunks + PARTS - 1) / PARTS;
    int first = min(chunks, t * per), last = min(chunks, first + per);
    Run all = step(0, cap);
    for (int c = first; c < last; ++c) all = after(all, runs[c]);
    part[t] = all;
    atomicAdd(poured, all.add);
    __syncthreads();
    if (t == 0) {
        int level = start;
        for (int u = 0; u < PARTS; ++u) {
            level_at[u] = level;
            level = apply(part[u], level);
        }
    }
    __syncthreads();
    int level = level_at[t];
    for (int c = first; c < last; ++c) {
        entry[c] = level;
        level = apply(runs[c], level);
    }
}

__global__ void replay_kernel(const int* __restrict__ flow, const int* __restrict__ entry, int* __restrict__ level,
                              unsigned long long* __restrict__ totals, int n, int cap, int chunks)
{
    __shared__ unsigned long long spilled[256];
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long spill = 0;
    if (c < chunks) {
        int first = c * CHUNK, last = min(n, first + CHUNK);
        int x = entry[c];
        for (int k = first; k < last; ++k) {
            int y = x + flow[k];
            if (y > cap) spill += y - cap;
            x = min(cap, max(0, y));
            level[k] = x;
        }
    }
    spilled[threadIdx.x] = spill;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (threadIdx.x < half) {
            spilled[threadIdx.x] += spilled[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(&totals[0], spilled[0]);
    }
}

// what is in the pond at the end = start + poured - spilled + missing
__global__ void balance_kernel(const int* __restrict__ level, const int* __restrict__ poured, int64_t* __restrict__ totals,
                               int n, int start)
{
    totals[1] = (int64_t)level[n - 1] - start - *poured + totals[0];
}

static char* room = nullptr;
static int room_chunks = 0;

extern "C" void millpond(const int* flow, int* level, int64_t* totals, int n, int cap, int start)
{
    int chunks = (n + CHUNK - 1) / CHUNK;
    start = start < 0 ? 0 : (start > cap ? cap : start);
    if (chunks > room_chunks) {
        if (room) cudaFree(room);
        cudaMalloc(&room, (size_t)chunks * (sizeof(Run) + sizeof(int)) + sizeof(int));
        room_chunks = chunks;
    }
    Run* runs = (Run*)room;
    int* entry = (int*)(runs + chunks);
    int* poured = entry + chunks;
    cudaMemsetAsync(poured, 0, sizeof(int), 0);
    cudaMemsetAsync(totals, 0, 2 * sizeof(int64_t), 0);
    chunk_kernel<<<(chunks + 255) / 256, 256>>>(flow, runs, n, cap, chunks);
    entry_kernel<<<1, PARTS>>>(runs, entry, poured, chunks, cap, start);
    replay_kernel<<<(chunks + 255) / 256, 256>>>(flow, entry, level, (unsigned long long*)totals, n, cap, chunks);
    balance_kernel<<<1, 1>>>(level, poured, totals, n, start);
}
