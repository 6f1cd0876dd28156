// The level of a pond after each step: inflow is added, what exceeds the capacity is spilled, what is
// missing below empty is counted as shortage. totals[0]: all spilled, totals[1]: all missing.
// A run of steps maps a level x to min(high, max(low, x + add)); such maps compose.
#include <cuda_runtime.h>
#include <cstdint>

#define THREADS 256
#define ITEMS 16
#define TILE (THREADS * ITEMS)

struct Run {
    long long add;
    int low, high;
};

__device__ __forceinline__ int apply(Run f, int x)
{
    long long y = x + f.add;
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

// One pass: a block a tile, taken in order by ticket. A tile waits for the level at which the tile before it ends
// (gate: mark in the high word, level in the low word) and hands its own on.
__global__ void chain_kernel(const int* __restrict__ flow, int* __restrict__ level, unsigned long long* __restrict__ totals,
                             unsigned long long* gate, unsigned* ticket, unsigned mark, int n, int cap, int start)
{
    __shared__ Run part[THREADS];
    __shared__ unsigned long long spilled[THREADS], missed[THREADS];
    __shared__ int tile_shared, entry;
    int t = threadIdx.x;
    if (t == 0) tile_shared = (int)atomicInc(ticket, gridDim.x - 1);
    __syncthreads();
    int tile = tile_shared;
    int first = tile * TILE + t * ITEMS;
    int f[ITEMS];
    Run all = step(0, cap);
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        f[k] = first + k < n ? flow[first + k] : 0;
        all = after(all, step(f[k], cap));
    }
    part[t] = all;
    __syncthreads();
    for (int reach = 1; reach < THREADS; reach <<= 1) {
        Run before;
        if (t >= reach) before = part[t - reach];
        __syncthreads();
        if (t >= reach) {
            all = after(before, all);
            part[t] = all;
        }
        __syncthreads();
    }
    if (t == 0) {
        int in = start;
        if (tile > 0) {
            unsigned long long word;
            do {
                word = *(volatile unsigned long long*)&gate[tile - 1];
            } while ((unsigned)(word >> 32) != mark);
            in = (int)(word & 0xffffffffu);
        }
        atomicExch(&gate[tile], (unsigned long long)mark << 32 | (unsigned)apply(part[THREADS - 1], in));
        entry = in;
    }
    __syncthreads();
    int x = t > 0 ? apply(part[t - 1], entry) : entry;
    unsigned long long spill = 0, miss = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        int y = x + f[k];
        if (y > cap) spill += y - cap;
        if (y < 0) miss += -y;
        x = min(cap, max(0, y));
        if (first + k < n) level[first + k] = x;
    }
    spilled[t] = spill;
    missed[t] = miss;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half >>= 1) {
        if (t < half) {
            spilled[t] += spilled[t + half];
            missed[t] += missed[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        atomicAdd(&totals[0], spilled[0]);
        atomicAdd(&totals[1], missed[0]);
    }
}

static unsigned long long* gate = nullptr;
static int gate_tiles = 0;
static unsigned mark = 2;   // 1 and 2 in turn: the gates need not be cleared between calls

extern "C" void millpond(const int* flow, int* level, int64_t* totals, int n, int cap, int start)
{
    int tiles = (n + TILE - 1) / TILE;
    start = start < 0 ? 0 : (start > cap ? cap : start);
    if (tiles > gate_tiles) {
        if (gate) cudaFree(gate);
        cudaMalloc(&gate, ((size_t)tiles + 1) * sizeof(unsigned long long));
        cudaMemset(gate, 0, ((size_t)tiles + 1) * sizeof(unsigned long long));
        gate_tiles = tiles;
    }
    mark = 3 - mark;
    cudaMemsetAsync(totals, 0, 2 * sizeof(int64_t), 0);
    chain_kernel<<<tiles, THREADS>>>(flow, level, (unsigned long long*)totals, gate + 1, (unsigned*)gate, mark, n, cap, start);
}
