// LEB128 packer of quantised wavelet coefficients. Coefficient i is raw[i] >> drop[i] (arithmetic), zigzag coded, written
// as 1 to 5 bytes of 7 bits, low group first, the high bit set on all but the last. The stream has no gaps;
// bytes behind its end are left alone. restart[b] is where block b of 1024 coefficients begins, total[0] the length.
#include <cuda_runtime.h>
#include <cstdint>

constexpr int PER_THREAD = 4, THREADS = 256, PER_BLOCK = PER_THREAD * THREADS;

__device__ __forceinline__ unsigned zigzag(const int* raw, const uint8_t* drop, long long i)
{
    int v = raw[i] >> (drop[i] & 31);
    return ((unsigned)v << 1) ^ (unsigned)(v >> 31);
}

__device__ __forceinline__ int width(unsigned z)
{
    return z < (1u << 7) ? 1 : z < (1u << 14) ? 2 : z < (1u << 21) ? 3 : z < (1u << 28) ? 4 : 5;
}

// exclusive prefix of one int per thread; whole[0] gets the sum
__device__ int block_prefix(int mine, int* whole)
{
    __shared__ int warps[THREADS / 32];
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5, run = mine;
    for (int d = 1; d < 32; d <<= 1) {
        int t = __shfl_up_sync(0xffffffffu, run, d);
        if (lane >= d) run += t;
    }
    if (lane == 31) warps[w] = run;
    __syncthreads();
    int before = 0, all = 0;
    for (int q = 0; q < THREADS / 32; ++q) {
        if (q < w) before += warps[q];
        all += warps[q];
    }
    __syncthreads();
    *whole = all;
    return before + run - mine;
}

// One pass. Blocks take tickets, so that a block only ever waits for blocks that run already. A block's word holds
// a state in its two low bits (0 nothing yet, 1 own size, 2 size of everything up to here) and the number above them.
__global__ void pack(const int* raw, const uint8_t* drop, uint8_t* stream, long long* restart, long long* total, int n,
                     unsigned long long* word, int* tickets)
{
    __shared__ int ticket;
    __shared__ long long home;
    if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1);
    __syncthreads();
    int b = ticket;

    long long first = (long long)b * PER_BLOCK + threadIdx.x * PER_THREAD;
    unsigned z[PER_THREAD];
    int mine = 0, all;
    for (int q = 0; q < PER_THREAD; ++q)
        if (first + q < n) {
            z[q] = zigzag(raw, drop, first + q);
            mine += width(z[q]);
        }
    int before = block_prefix(mine, &all);

    if (threadIdx.x == 0) {
        long long sum = 0;
        if (b > 0) {
            atomicExch(&word[b], (unsigned long long)all << 2 | 1u);
            for (int p = b - 1; ; --p) {
                unsigned long long seen;
                do seen = atomicAdd(&word[p], 0ull); while ((seen & 3u) == 0);
                sum += (long long)(seen >> 2);
                if ((seen & 3u) == 2u) break;
            }
        }
        atomicExch(&word[b], (unsigned long long)(sum + all) << 2 | 2u);
        restart[b] = sum;
        if ((long long)(b + 1) * PER_BLOCK >= n) total[0] = sum + all;
        home = sum;
    }
    __syncthreads();

    long long at = home + before;
    for (int q = 0; q < PER_THREAD; ++q)
        if (first + q < n) {
            int bytes = width(z[q]);
            for (int g = 0; g < bytes; ++g) {
                stream[at++] = (uint8_t)((z[q] & 127u) | (g + 1 < bytes ? 128u : 0u));
                z[q] >>= 7;
            }
        }
}

extern "C" void lebstream(const int* raw, const uint8_t* drop, uint8_t* stream, long long* restart, long long* total, int n)
{
    static unsigned long long* room = nullptr;
    static int held = 0;
    int blocks = (n + PER_BLOCK - 1) / PER_BLOCK;
    if (blocks > held) {
        cudaFree(room);                 // waits for what still uses it
        cudaMalloc(&room, ((size_t)blocks + 1) * sizeof *room);
        held = blocks;
    }
    // room[0] is the ticket counter, the words follow
    cudaMemsetAsync(room, 0, ((size_t)blocks + 1) * sizeof *room, 0);
    pack<<<blocks, THREADS>>>(raw, drop, stream, restart, total, n, room + 1, (int*)room);
}
