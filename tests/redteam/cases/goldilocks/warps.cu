// Matrix times vector over the field of p = 2^64 - 2^32 + 1: y[r] = sum of m[r][c] * v[c] modulo p, in 0 .. p-1.
// A warp per row; the lanes' sums are added modulo p.
#include <cstdint>

typedef unsigned __int128 wide;
#define P 0xffffffff00000001ull
#define EPS 0xffffffffull               /* 2^64 modulo p */

// 2^64 = 2^32 - 1 and 2^96 = -1 modulo p
__device__ uint64_t reduce(wide t) {
    uint64_t lo = (uint64_t)t, hi = (uint64_t)(t >> 64);
    uint64_t top = hi >> 32;
    uint64_t s = lo - top;
    if (lo < top) s -= EPS;
    uint64_t u = (hi & EPS) * EPS;
    s += u;
    if (s < u) s += EPS;
    return s >= P ? s - P : s;
}

__device__ uint64_t add(uint64_t a, uint64_t b) {
    uint64_t s = a + b;
    if (s < a) return s + EPS;          // beyond 2^64: less p is the same as plus 2^32 - 1 in 64 bits
    return s >= P ? s - P : s;
}

extern "C" __global__ void goldilocks(const uint64_t* m, const uint64_t* v, uint64_t* y, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (r >= rows) return;
    const uint64_t* row = m + (size_t)r * cols;
    uint64_t sum = 0;
    for (int c = lane; c < cols; c += 32) {
        sum = add(sum, reduce((wide)row[c] * v[c]));
    }
    for (int step = 16; step > 0; step >>= 1) {
        sum = add(sum, __shfl_xor_sync(0xffffffffu, sum, step));
    }
    if (lane == 0) y[r] = sum;
}
