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

__global__ void stretches(const int* __restrict__ inflow, const int* __restrict__ capacity, Map* maps, int n, int count)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= count) return;
    const int from = q * DAYS, to = min(from + DAYS, n);
    Map f = {inflow[from], 0, capacity[from]};
    for (int t = from + 1; t < to; ++t) f = then(f, Map{inflow[t], 0, capacity[t]});
    maps[q] = f;
}

__global__ void openings(const Map* __restrict__ maps, int* opening, int count, int start)
{
    __shared__ Map part[1024];
    const int each = (count + 1023) / 1024;
    const int from = min((int)threadIdx.x * each, count), to = min(from + each, count);
    Map f = {0, -(1 << 30), 1 << 30};                  // changes nothing
    for (int q = from; q < to; ++q) f = then(f, maps[q]);
    part[threadIdx.x] = f;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        Map g = part[threadIdx.x];
        if ((int)threadIdx.x >= d) g = then(part[threadIdx.x - d], g);
        __syncthreads();
        part[threadIdx.x] = g;
        __syncthreads();
    }
    int x = threadIdx.x ? at(part[threadIdx.x - 1], start) : start;
    for (int q = from; q < to; ++q) {
        opening[q] = x;
        x = at(maps[q], x);
    }
}

__global__ void replay(const int* __restrict__ inflow, const int* __restrict__ capacity, const int* __restrict__ opening,
                       int* storage, int* spill, int n, int count)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= count) return;
    const int from = q * DAYS, to = min(from + DAYS, n);
    int x = opening[q];
    for (int t = from; t < to; ++t) {
        const int raw = x + inflow[t];
        spill[t] = max(raw - capacity[t], 0);
        x = min(max(raw, 0), capacity[t]);
        storage[t] = x;
    }
}

extern "C" void spillway(const int* inflow, const int* capacity, int* storage, int* spill, int start, int n)
{
    static Map* maps = nullptr;
    static int* opening = nullptr;
    static int room = 0;
    const int count = (n + DAYS - 1) / DAYS;
    if (count > room) {
        cudaFree(maps);
        cudaFree(opening);
        cudaMalloc(&maps, (size_t)count * sizeof(Map));
        cudaMalloc(&opening, (size_t)count * sizeof(int));
        room = count;
    }
    stretches<<<(count + 127) / 128, 128>>>(inflow, capacity, maps, n, count);
    openings<<<1, 1024>>>(maps, opening, count, start);
    replay<<<(count + 127) / 128, 128>>>(inflow, capacity, opening, storage, spill, n, count);
}
