// Matrix times vector over the field of p = 2^64 - 2^32 + 1: y[r] = sum of m[r][c] * v[c] modulo p, in 0 .. p-1.
// The sum so far is added to the next product before that is reduced, so that no addition modulo p is left.
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
    if (s < u) s += EPS;                // u is at most (2^32 - 1)^2: this does not overflow again
    return s;
}

extern "C" __global__ void goldilocks(const uint64_t* m, const uint64_t* v, uint64_t* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const uint64_t* row = m + (size_t)r * cols;
    uint64_t sum = 0;
    for (int c = 0; c < cols; ++c) {
        sum = reduce((wide)row[c] * v[c] + sum);
    }
    y[r] = sum;
}
