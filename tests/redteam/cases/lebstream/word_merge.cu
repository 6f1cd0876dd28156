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

__global__ void count_bytes(const int* raw, const uint8_t* drop, long long* restart, int n)
{
    long long first = (long long)blockIdx.x * PER_BLOCK + threadIdx.x * PER_THREAD;
    int mine = 0, all;
    for (int q = 0; q < PER_THREAD; ++q)
        if (first + q < n) mine += width(zigzag(raw, drop, first + q));
    block_prefix(mine, &all);
    if (threadIdx.x == 0) restart[blockIdx.x] = all;
}

__global__ void place_blocks(long long* restart, long long* total, int blocks)
{
    long long carry = 0;
    for (int from = 0; from < blocks; from += THREADS) {
        int b = from + threadIdx.x, all;
        int mine = b < blocks ? (int)restart[b] : 0;
        int before = block_prefix(mine, &all);
        if (b < blocks) restart[b] = carry + before;
        carry += all;
    }
    if (threadIdx.x == 0) total[0] = carry;
}

__global__ void write_bytes(const int* raw, const uint8_t* drop, const long long* restart, uint8_t* stream, int n)
{
    __shared__ uint8_t staged[PER_BLOCK * 5 + 8];
    long long first = (long long)blockIdx.x * PER_BLOCK + threadIdx.x * PER_THREAD;
    unsigned z[PER_THREAD];
    int mine = 0, all;
    for (int q = 0; q < PER_THREAD; ++q)
        if (first + q < n) {
            z[q] = zigzag(raw, drop, first + q);
            mine += width(z[q]);
        }
    long long home = restart[blockIdx.x];
    int skew = (int)(home & 3);                 // staged[skew] is the block's first byte: words line up with the stream's
    int at = skew + block_prefix(mine, &all);
    for (int q = 0; q < PER_THREAD; ++q)
        if (first + q < n) {
            int bytes = width(z[q]);
            for (int g = 0; g < bytes; ++g) {
                staged[at++] = (uint8_t)((z[q] & 127u) | (g + 1 < bytes ? 128u : 0u));
                z[q] >>= 7;
            }
        }
    __syncthreads();
    uint8_t* base = stream + (home - skew);
    int end = skew + all;
    for (int word = threadIdx.x; word * 4 < end; word += THREADS) {
        int lo = word * 4, hi = lo + 4;
        if (lo >= skew && hi <= end) {
            unsigned v = staged[lo] | staged[lo + 1] << 8 | staged[lo + 2] << 16 | (unsigned)staged[lo + 3] << 24;
            *reinterpret_cast<unsigned*>(base + lo) = v;
        } else {
            // a word shared with a neighbour: take it, put this block's bytes in, put it back
            unsigned* slot = reinterpret_cast<unsigned*>(base + lo);
            unsigned v = *slot;
            for (int c = max(lo, skew); c < min(hi, end); ++c) {
                int shift = 8 * (c - lo);
                v = (v & ~(255u << shift)) | (unsigned)staged[c] << shift;
            }
            *slot = v;
        }
    }
}

extern "C" void lebstream(const int* raw, const uint8_t* drop, uint8_t* stream, long long* restart, long long* total, int n)
{
    int blocks = (n + PER_BLOCK - 1) / PER_BLOCK;
    count_bytes<<<blocks, THREADS>>>(raw, drop, restart, n);
    place_blocks<<<1, THREADS>>>(restart, total, blocks);
    write_bytes<<<blocks, THREADS>>>(raw, drop, restart, stream, n);
}
