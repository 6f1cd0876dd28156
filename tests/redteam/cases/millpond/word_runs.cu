// The level of a pond after each step: inflow is added, what exceeds the capacity is spilled, what is
// missing below empty is counted as shortage. totals[0]: all spilled, totals[1]: all missing.
// A run of steps maps a level x to min(high, max(low, x + add)); such maps compose.
#include <cuda_runtime.h>
#include <cstdint>

#define CHUNK 64
#define PARTS 1024

struct Run {
    unsigned add;     // modulo 2^32
    int low, high;
};

__device__ __forceinline__ int apply(Run f, int x)
{
    int y = (int)((unsigned)x + f.add);
    return min(f.high, max(f.low, y));
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
    f.add = (unsigned)flow;
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

__global__ void entry_kernel(const Run* __restrict__ runs, int* __restrict__ entry, int chunks, int cap, int start)
{
    __shared__ Run part[PARTS];
    int t = threadIdx.x;
    int per = (chunks + PARTS - 1) / PARTS;
    int first = min(chunks, t * per), last = min(chunks, first + per);
    Run all = step(0, cap);
    for (int c = first; c < last; ++c) all = after(all, runs[c]);
    part[t] = all;
    __syncthreads();
    for (int reach = 1; reach < PARTS; reach <<= 1) {
        Run before;
        if (t >= reach) before = part[t - reach];
        __syncthreads();
        if (t >= reach) {
            all = after(before, all);
            part[t] = all;
        }
        __syncthreads();
    }
    int level = t > 0 ? apply(part[t - 1], start) : start;
    for (int c = first; c < last; ++c) {
        entry[c] = level;
        level = apply(runs[c], level);
    }
}

__global__ void replay_kernel(const int* __restrict__ flow, const int* __restrict__ entry, int* __restrict__ level,
                              unsigned long long* __restrict__ totals, int n, int cap, int chunks)
{
    __shared__ unsigned long long spilled[256], missed[256];
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long spill = 0, miss = 0;
    if (c < chunks) {
        int first = c * CHUNK, last = min(n, first + CHUNK);
        int x = entry[c];
        for (int k = first; k < last; ++k) {
            int y = x + flow[k];
            if (y > cap) spill += y - cap;
            if (y < 0) miss += -y;
            x = min(cap, max(0, y));
            level[k] = x;
        }
    }
    spilled[threadIdx.x] = spill;
    missed[threadIdx.x] = miss;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (threadIdx.x < half) {
            spilled[threadIdx.x] += spilled[threadIdx.x + half];
            missed[threadIdx.x] += missed[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(&totals[0], spilled[0]);
        atomicAdd(&totals[1], missed[0]);
    }
}

static char* room = nullptr;
static int room_chunks = 0;

extern "C" void millpond(const int* flow, int* level, int64_t* totals, int n, int cap, int start)
{
    int chunks = (n + CHUNK - 1) / CHUNK;
    start = start < 0 ? 0 : (start > cap ? cap : start);
    if (chunks > room_chunks) {
        if (room) cudaFree(room);
        cudaMalloc(&room, (size_t)chunks * (sizeof(Run) + sizeof(int)));
        room_chunks = chunks;
    }
    Run* runs = (Run*)room;
    int* entry = (int*)(runs + chunks);
    cudaMemsetAsync(totals, 0, 2 * sizeof(int64_t), 0);
    chunk_kernel<<<(chunks + 255) / 256, 256>>>(flow, runs, n, cap, chunks);
    entry_kernel<<<1, PARTS>>>(runs, entry, chunks, cap, start);
    replay_kernel<<<(chunks + 255) / 256, 256>>>(flow, entry, level, (unsigned long long*)totals, n, cap, chunks);
}
