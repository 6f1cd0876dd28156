// Sealed-bid second-price auctions; one block of 128 threads per lot.
// A bid and its place become one 64-bit key, so that the order of keys is the order of bids with earlier ones first,
// and the two greatest keys of the row are all that is needed.
#include <math_constants.h>

__device__ __forceinline__ unsigned long long key_of(float v, int j)
{
    unsigned u = __float_as_uint(v);
    u = u & 0x80000000u ? ~u : u | 0x80000000u;        // as unsigned numbers in the order of the floats
    return v == v ? (unsigned long long)u << 32 | (0xffffffffu - (unsigned)j) : 0ull;
}

__device__ __forceinline__ float bid_of(unsigned long long key)
{
    unsigned u = (unsigned)(key >> 32);
    return key ? __uint_as_float(u & 0x80000000u ? u & 0x7fffffffu : ~u) : -CUDART_INF_F;
}

extern "C" __global__ void __launch_bounds__(128)
gavel(const float* __restrict__ bid, const float* __restrict__ reserve,
      int* __restrict__ winner, float* __restrict__ price, int lots, int bidders)
{
    const unsigned ALL = 0xffffffffu;
    __shared__ unsigned long long top_of[4], second_of[4];
    int lot = blockIdx.x, tid = threadIdx.x;
    const float* row = bid + (size_t)lot * bidders;

    unsigned long long top = 0, second = 0;
    for (int j = tid; j < bidders; j += 128) {
        unsigned long long k = key_of(row[j], j);
        second = max(second, min(top, k));
        top = max(top, k);
    }
    for (int step = 16; step > 0; step >>= 1) {
        unsigned long long t = __shfl_xor_sync(ALL, top, step);
        unsigned long long s = __shfl_xor_sync(ALL, second, step);
        second = max(max(second, s), min(top, t));
        top = max(top, t);
    }
    if ((tid & 31) == 0) { top_of[tid >> 5] = top; second_of[tid >> 5] = second; }
    __syncthreads();
    if (tid == 0) {
        for (int w = 1; w < 4; w++) {
            second = max(max(second, second_of[w]), min(top, top_of[w]));
            top = max(top, top_of[w]);
        }
        float best = bid_of(top), next = bid_of(second), least = reserve[lot];
        bool sold = top != 0 && best >= least;
        winner[lot] = sold ? (int)(0xffffffffu - (unsigned)top) : -1;
        price[lot] = sold ? (next > least ? next : least) : 0.0f;
    }
}
