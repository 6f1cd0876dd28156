// Stable split by sign: first the negative numbers, then the zeros (of either sign), then all others (NaN among them),
// each in the order of the input. src tells where each came from, counts how many there are of each kind.
#include <cuda_runtime.h>

#define TILE 256

__device__ int kind_of(float v)
{
    return v < 0.0f ? 0 : v == 0.0f ? 1 : 2;
}

// A word of a tile: the call it belongs to (8 bits), two bits of progress (1: its own counts, 2: counts up to and
// with it), 27 bits of negatives, 27 bits of zeros.
__device__ unsigned long long word(unsigned call, unsigned progress, int negatives, int zeros)
{
    return (unsigned long long)call << 56 | (unsigned long long)progress << 54 | (unsigned long long)negatives << 27
         | (unsigned)zeros;
}

// Counts and the sums of the counts in one pass: tiles are drawn by ticket, so that all before a tile have begun.
__global__ void __launch_bounds__(TILE) tally(const float* x, int n, int tiles, unsigned* ticket,
                                              unsigned long long* words, int* part, int* totals, unsigned call)
{
    __shared__ int tile, negatives, zeros;
    if (threadIdx.x == 0) {
        tile = atomicAdd(ticket, 1u);
        negatives = zeros = 0;
    }
    __syncthreads();
    int i = tile * TILE + threadIdx.x;
    int kind = i < n ? kind_of(x[i]) : 2;
    if (kind == 0) atomicAdd(&negatives, 1);
    if (kind == 1) atomicAdd(&zeros, 1);
    __syncthreads();
    if (threadIdx.x) return;
    int before_neg = 0, before_zero = 0;
    if (tile > 0) {
        atomicExch(words + tile, word(call, 1, negatives, zeros));
        for (int t = tile - 1; t >= 0; --t) {
            unsigned long long w = *(volatile unsigned long long*)(words + t);
            while (w >> 56 != call || !(w >> 54 & 3)) w = *(volatile unsigned long long*)(words + t);
            before_neg += (int)(w >> 27 & 0x7ffffff);
            before_zero += (int)(w & 0x7ffffff);
            if ((w >> 54 & 3) == 2) break;
        }
    }
    atomicExch(words + tile, word(call, 2, before_neg + negatives, before_zero + zeros));
    part[2 * tile] = before_neg;
    part[2 * tile + 1] = before_zero;
    if (tile == tiles - 1) {
        totals[0] = before_neg + negatives;
        totals[1] = before_zero + zeros;
        totals[2] = n - totals[0] - totals[1];
    }
}

__global__ void __launch_bounds__(TILE) place(const float* x, int n, const int* part, const int* counts, float* y,
                                              int* src)
{
    __shared__ int warps[3][TILE / 32];
    int i = blockIdx.x * TILE + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float v = i < n ? x[i] : 0.0f;
    int kind = i < n ? kind_of(v) : 3;
    int rank = 0;
    for (int k = 0; k < 3; ++k) {
        unsigned same = __ballot_sync(0xffffffffu, kind == k);
        if (kind == k) rank = __popc(same & ((1u << lane) - 1));
        if (lane == 0) warps[k][warp] = __popc(same);
    }
    __syncthreads();
    if (i >= n) return;
    for (int k = 0; k < warp; ++k) rank += warps[kind][k];
    int neg = part[2 * blockIdx.x], zero = part[2 * blockIdx.x + 1];
    int to = rank;
    if (kind == 0) to += neg;
    else if (kind == 1) to += counts[0] + zero;
    else to += counts[0] + counts[1] + (int)(blockIdx.x * TILE) - neg - zero;
    y[to] = v;
    src[to] = i;
}

extern "C" void picket(const float* x, float* y, int* src, int* counts, int n)
{
    int tiles = (n + TILE - 1) / TILE;
    // workspace kept between calls: the ticket, then the words. A word belongs to a call by the call's number in it,
    // so only the ticket has to be cleared; fresh memory holds zeros, and zero is nobody's number.
    static unsigned long long* words = nullptr;
    static int* part = nullptr;
    static int room = 0;
    static unsigned call = 0;
    if (tiles > room) {
        cudaFree(words);
        cudaFree(part);
        cudaMalloc(&words, sizeof(unsigned long long) * (tiles + 1));
        cudaMalloc(&part, sizeof(int) * 2 * tiles);
        cudaMemset(words, 0, sizeof(unsigned long long) * (tiles + 1));
        room = tiles;
    }
    call = call % 255 + 1;
    cudaMemsetAsync(words, 0, sizeof(unsigned long long));
    tally<<<tiles, TILE>>>(x, n, tiles, (unsigned*)words, words + 1, part, counts, call);
    place<<<tiles, TILE>>>(x, n, part, counts, y, src);
}
