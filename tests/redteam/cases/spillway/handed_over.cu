// A reservoir over n days: inflow[t] (negative: withdrawal) is added to the storage, which stays between 0 and capacity[t];
//   raw = storage + inflow[t];  storage = min(max(raw, 0), capacity[t]);  spill[t] = max(raw - capacity[t], 0).
// A stretch of days maps the storage x before it to min(max(x + add, low), high), and such maps compose.
#include <cuda_runtime.h>

constexpr int DAYS = 64;              // days of a stretch

struct Map { int add, low, high; };

__device__ __forceinline__ Map then(Map f, Map g)      // f first
{
    Map h;
    h.add = f.add + g.add;
    h.low = min(max(f.low + g.add, g.low), g.high);
    h.high = min(max(f.high + g.add, g.low), g.high);
    return h;
}

__device__ __forceinline__ int at(Map f, int x) { return min(max(x + f.add, f.low), f.high); }

// One pass: a block composes its stretches, waits for the storage that the block before hands on, and hands on its own.
// Blocks take their places in the order in which they come to life (the counter goes back to 0 by itself after the last one),
// and whoever has taken a storage clears its word, so that the words are clean for the next call.
constexpr int BLOCK = 256;

__device__ void scan(Map* part, Map f)                 // inclusive
{
    part[threadIdx.x] = f;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        Map g = part[threadIdx.x];
        if ((int)threadIdx.x >= d) g = then(part[threadIdx.x - d], g);
        __syncthreads();
        part[threadIdx.x] = g;
        __syncthreads();
    }
}

__device__ Map stretch(const int* __restrict__ inflow, const int* __restrict__ capacity, int q, int n, int count)
{
    Map f = {0, -(1 << 30), 1 << 30};                  // changes nothing
    if (q < count) {
        const int from = q * DAYS, to = min(from + DAYS, n);
        for (int t = from; t < to; ++t) f = then(f, Map{inflow[t], 0, capacity[t]});
    }
    return f;
}

__global__ void __launch_bounds__(BLOCK) chain(const int* __restrict__ inflow, const int* __restrict__ capacity, unsigned* turn,
                     unsigned long long* done, int* storage, int* spill, int n, int count, int start)
{
    __shared__ Map part[BLOCK];
    __shared__ int place, before_all;
    if (threadIdx.x == 0) place = (int)atomicInc(turn, gridDim.x - 1);
    __syncthreads();
    const int tile = place;
    const int q = tile * BLOCK + threadIdx.x;
    scan(part, stretch(inflow, capacity, q, n, count));
    if (threadIdx.x == 0) {
        int before = start;
        if (tile) {
            unsigned long long word;
            do word = atomicAdd(done + tile - 1, 0ull); while (!(word >> 32));
            atomicExch(done + tile - 1, 0ull);
            before = (int)(unsigned)word;
        }
        atomicExch(done + tile, 1ull << 32 | (unsigned)at(part[BLOCK - 1], before));
        before_all = before;
    }
    __syncthreads();
    if (q >= count) return;
    int x = threadIdx.x ? at(part[threadIdx.x - 1], before_all) : before_all;
    const int from = q * DAYS, to = min(from + DAYS, n);
    for (int t = from; t < to; ++t) {
        const int raw = x + inflow[t];
        spill[t] = max(raw - capacity[t], 0);
        x = min(max(raw, 0), capacity[t]);
        storage[t] = x;
    }
}

extern "C" void spillway(const int* inflow, const int* capacity, int* storage, int* spill, int start, int n)
{
    static unsigned* turn = nullptr;
    static unsigned long long* done = nullptr;
    static int room = 0;
    const int count = (n + DAYS - 1) / DAYS;
    const int grid = (count + BLOCK - 1) / BLOCK;
    if (!turn) {
        cudaMalloc(&turn, sizeof(unsigned));
        cudaMemset(turn, 0, sizeof(unsigned));
    }
    if (grid > room) {
        cudaFree(done);
        cudaMalloc(&done, (size_t)grid * sizeof(unsigned long long));
        cudaMemset(done, 0, (size_t)grid * sizeof(unsigned long long));
        room = grid;
    }
    chain<<<grid, BLOCK>>>(inflow, capacity, turn, done, storage, spill, n, count, start);
}
