// A lottery with tickets: entrant j holds ticket[j] tickets, numbered on from those of entrant j-1.
// Each draw has a ball of 24 bits; its lucky number is ball * total / 2^24, rounded down, and its winner the entrant
// who holds that number. Written are the winner of every draw and how often each entrant won.
// Without a single ticket nobody wins: the winners are -1.
#include <cuda_runtime.h>
#include <stddef.h>

typedef unsigned long long u64;
#define CHUNK 2048

// sum over the block's 256 threads, inclusive up to this thread
static __device__ __forceinline__ u64 scan_block(u64 mine, u64* room)
{
    int t = threadIdx.x;
    room[t] = mine;
    __syncthreads();
    for (int off = 1; off < 256; off <<= 1) {
        u64 add = t >= off ? room[t - off] : 0;
        __syncthreads();
        room[t] += add;
        __syncthreads();
    }
    u64 sum = room[t];
    return sum;
}

__global__ void chunk_kernel(const int* ticket, u64* sums, int entrants)
{
    __shared__ u64 room[256];
    u64 mine = 0;
    size_t first = (size_t)blockIdx.x * CHUNK + threadIdx.x * 8;
    for (int k = 0; k < 8; ++k)
        if (first + k < (size_t)entrants) mine += ticket[first + k];
    u64 sum = scan_block(mine, room);
    if (threadIdx.x == 255) sums[blockIdx.x] = sum;
}

// one block: sums become those of all chunks before
__global__ void before_kernel(u64* sums, int chunks)
{
    __shared__ u64 room[256];
    u64 carry = 0;
    for (int first = 0; first < chunks; first += 256) {
        int i = first + threadIdx.x;
        u64 mine = i < chunks ? sums[i] : 0;
        u64 sum = scan_block(mine, room);
        if (i < chunks) sums[i] = carry + sum - mine;
        carry += room[255];
        __syncthreads();
    }
}

__global__ void upto_kernel(const int* ticket, const u64* sums, u64* upto, int entrants)
{
    __shared__ u64 room[256];
    u64 mine = 0;
    size_t first = (size_t)blockIdx.x * CHUNK + threadIdx.x * 8;
    for (int k = 0; k < 8; ++k)
        if (first + k < (size_t)entrants) mine += ticket[first + k];
    u64 at = sums[blockIdx.x] + scan_block(mine, room) - mine;
    for (int k = 0; k < 8; ++k)
        if (first + k < (size_t)entrants) {
            at += ticket[first + k];
            upto[first + k] = at;
        }
}

__global__ void draw_kernel(const u64* upto, const int* cut, const int* ball, int* winner, int* wins, int entrants, int draws)
{
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= draws) return;
    u64 total = upto[entrants - 1];
    if (total == 0) {
        winner[d] = -1;
        return;
    }
    u64 lucky = ((u64)ball[d] * total) >> 24;
    int part = (int)(lucky * (u64)entrants / total);
    int lo = cut[part], hi = cut[part + 1];
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (upto[mid] > lucky) hi = mid;
        else lo = mid + 1;
    }
    winner[d] = lo;
    atomicAdd(&wins[lo], 1);
}

// cut[b]: the winner if the lucky number were the first one of the b-th of equal parts of the total
__global__ void cut_kernel(const u64* upto, int* cut, int entrants)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b > entrants) return;
    u64 total = upto[entrants - 1];
    u64 lucky = (u64)b * total / (u64)entrants;
    int lo = 0, hi = entrants - 1;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (upto[mid] > lucky) hi = mid;
        else lo = mid + 1;
    }
    cut[b] = lo;
}

extern "C" void lottery(const int* ticket, const int* ball, int* winner, int* wins, int entrants, int draws)
{
    static u64* room = nullptr;
    static size_t held = 0;
    int chunks = (int)(((size_t)entrants + CHUNK - 1) / CHUNK);
    size_t need = (size_t)entrants + chunks + ((size_t)entrants + 2) / 2;
    if (need > held) {
        if (room) cudaFree(room);
        cudaMalloc((void**)&room, need * sizeof(u64));
        held = need;
    }
    u64* upto = room;
    u64* sums = room + entrants;
    int* cut = (int*)(sums + chunks);
    cudaMemsetAsync(wins, 0, (size_t)entrants * sizeof(int), 0);
    chunk_kernel<<<chunks, 256>>>(ticket, sums, entrants);
    before_kernel<<<1, 256>>>(sums, chunks);
    upto_kernel<<<chunks, 256>>>(ticket, sums, upto, entrants);
    cut_kernel<<<entrants / 256 + 1, 256>>>(upto, cut, entrants);
    draw_kernel<<<(draws + 255) / 256, 256>>>(upto, cut, ball, winner, wins, entrants, draws);
}
