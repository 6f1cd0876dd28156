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

#define POSTS 1024

// Draws look first through evenly spaced posts of the running sums, which fit in shared memory, then between two posts.
__global__ void draw_kernel(const u64* upto, const int* ball, int* winner, int* wins, int entrants, int draws)
{
    __shared__ u64 post[POSTS];
    int stride = (entrants + POSTS - 1) / POSTS;
    int posts = (entrants + stride - 1) / stride;
    for (int i = threadIdx.x; i < posts; i += blockDim.x)
        post[i] = upto[min((size_t)entrants, ((size_t)i + 1) * stride) - 1];
    __syncthreads();
    u64 total = post[posts - 1];
    for (int d = blockIdx.x * blockDim.x + threadIdx.x; d < draws; d += gridDim.x * blockDim.x) {
        u64 lucky = ((u64)ball[d] * total) >> 24;
        int lo = 0, hi = posts - 1;
        while (lo < hi) {
            int mid = (lo + hi) / 2;
            if (post[mid] > lucky) hi = mid;
            else lo = mid + 1;
        }
        int left = lo * stride, right = min(entrants - 1, left + stride - 1);
        while (left < right) {
            int mid = left + (right - left) / 2;
            if (upto[mid] > lucky) right = mid;
            else left = mid + 1;
        }
        winner[d] = left;
        atomicAdd(&wins[left], 1);
    }
}

extern "C" void lottery(const int* ticket, const int* ball, int* winner, int* wins, int entrants, int draws)
{
    static u64* room = nullptr;
    static size_t held = 0;
    int chunks = (int)(((size_t)entrants + CHUNK - 1) / CHUNK);
    size_t need = (size_t)entrants + chunks;
    if (need > held) {
        if (room) cudaFree(room);
        cudaMalloc((void**)&room, need * sizeof(u64));
        held = need;
    }
    u64* upto = room;
    u64* sums = room + entrants;
    cudaMemsetAsync(wins, 0, (size_t)entrants * sizeof(int), 0);
    chunk_kernel<<<chunks, 256>>>(ticket, sums, entrants);
    before_kernel<<<1, 256>>>(sums, chunks);
    upto_kernel<<<chunks, 256>>>(ticket, sums, upto, entrants);
    draw_kernel<<<(draws + 255) / 256 < 1056 ? (draws + 255) / 256 : 1056, 256>>>(upto, ball, winner, wins, entrants, draws);
}
