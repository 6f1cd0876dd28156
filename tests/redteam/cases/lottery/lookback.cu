// A lottery with tickets: entrant j holds ticket[j] tickets, numbered on from those of entrant j-1.
// Each draw has a ball of 24 bits; its lucky number is ball * total / 2^24, rounded down, and its winner the entrant
// who holds that number. Written are the winner of every draw and how often each entrant won.
// Without a single ticket nobody wins: the winners are -1.
#include <cuda_runtime.h>
#include <stddef.h>

typedef unsigned long long u64;
#define CHUNK 2048
#define PART (1ull << 62)
#define ALL (1ull << 63)
#define VALUE (PART - 1)

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

// Running sums in one pass. A chunk's state is one word: in the two upper bits whether it holds nothing yet, the sum of
// the chunk or the sum up to its end, in the others that sum.
__global__ void single_kernel(const int* ticket, u64* upto, u64* state, unsigned* order, int entrants)
{
    __shared__ u64 room[256];
    __shared__ u64 s_before;
    __shared__ unsigned s_chunk;
    // chunks are handed out in the order in which blocks begin, so every chunk before is at work or done
    if (threadIdx.x == 0) s_chunk = atomicAdd(order, 1u);
    __syncthreads();
    unsigned chunk = s_chunk;
    u64 mine = 0;
    size_t first = (size_t)chunk * CHUNK + threadIdx.x * 8;
    for (int k = 0; k < 8; ++k)
        if (first + k < (size_t)entrants) mine += ticket[first + k];
    u64 sum = scan_block(mine, room);
    if (threadIdx.x == 0) {
        volatile u64* st = state;
        u64 own = room[255];
        u64 before = 0;
        if (chunk > 0) {
            st[chunk] = PART | own;
            unsigned j = chunk - 1;
            for (;;) {
                u64 s = st[j];
                if (s == 0) continue;
                before += s & VALUE;
                if (s & ALL) break;
                --j;
            }
        }
        st[chunk] = ALL | (before + own);
        s_before = before;
    }
    __syncthreads();
    u64 at = s_before + sum - mine;
    for (int k = 0; k < 8; ++k)
        if (first + k < (size_t)entrants) {
            at += ticket[first + k];
            upto[first + k] = at;
        }
}

__global__ void draw_kernel(const u64* upto, const int* ball, int* winner, int* wins, int entrants, int draws)
{
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= draws) return;
    u64 total = upto[entrants - 1];
    if (total == 0) {
        winner[d] = -1;
        return;
    }
    u64 lucky = ((u64)ball[d] * total) >> 24;
    int lo = 0, hi = entrants - 1;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (upto[mid] > lucky) hi = mid;
        else lo = mid + 1;
    }
    winner[d] = lo;
    atomicAdd(&wins[lo], 1);
}

extern "C" void lottery(const int* ticket, const int* ball, int* winner, int* wins, int entrants, int draws)
{
    static u64* room = nullptr;
    static size_t held = 0;
    int chunks = (int)(((size_t)entrants + CHUNK - 1) / CHUNK);
    size_t need = (size_t)entrants + chunks + 1;
    if (need > held) {
        if (room) cudaFree(room);
        cudaMalloc((void**)&room, need * sizeof(u64));
        held = need;
    }
    u64* upto = room;
    u64* state = room + entrants;
    unsigned* order = (unsigned*)(state + chunks);
    cudaMemsetAsync(wins, 0, (size_t)entrants * sizeof(int), 0);
    cudaMemsetAsync(state, 0, ((size_t)chunks + 1) * sizeof(u64), 0);
    single_kernel<<<chunks, 256>>>(ticket, upto, state, order, entrants);
    draw_kernel<<<(draws + 255) / 256, 256>>>(upto, ball, winner, wins, entrants, draws);
}
