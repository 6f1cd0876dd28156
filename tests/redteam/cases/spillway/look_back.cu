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

// Blocks of 256 stretches. Pass one: the map of every stretch up to the start of the next within its block, and of the whole block.
// Pass two: a block goes back over the maps of the blocks before it until what it has composed no longer depends on
// the storage before (low == high); then the days are replayed.
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

__global__ void __launch_bounds__(BLOCK) blocks(const int* __restrict__ inflow, const int* __restrict__ capacity, Map* whole, int n, int count)
{
    __shared__ Map part[BLOCK];
    scan(part, stretch(inflow, capacity, blockIdx.x * BLOCK + threadIdx.x, n, count));
    if (threadIdx.x == BLOCK - 1) whole[blockIdx.x] = part[BLOCK - 1];
}

__global__ void __launch_bounds__(BLOCK) days(const int* __restrict__ inflow, const int* __restrict__ capacity, const Map* __restrict__ whole,
                     int* storage, int* spill, int n, int count, int start)
{
    __shared__ Map part[BLOCK];
    __shared__ int before;
    const int q = blockIdx.x * BLOCK + threadIdx.x;
    if (threadIdx.x == 0) {
        Map f = {0, -(1 << 30), 1 << 30};
        for (int b = (int)blockIdx.x - 1; b >= 0 && f.low != f.high; --b) f = then(whole[b], f);
        before = at(f, start);
    }
    scan(part, stretch(inflow, capacity, q, n, count));
    if (q >= count) return;
    int x = threadIdx.x ? at(part[threadIdx.x - 1], before) : before;
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
    static Map* whole = nullptr;
    static int room = 0;
    const int count = (n + DAYS - 1) / DAYS;
    const int grid = (count + BLOCK - 1) / BLOCK;
    if (grid > room) {
        cudaFree(whole);
        cudaMalloc(&whole, (size_t)grid * sizeof(Map));
        room = grid;
    }
    blocks<<<grid, BLOCK>>>(inflow, capacity, whole, n, count);
    days<<<grid, BLOCK>>>(inflow, capacity, whole, storage, spill, n, count, start);
}
