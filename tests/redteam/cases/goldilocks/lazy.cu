// Matrix times vector over the field of p = 2^64 - 2^32 + 1: y[r] = sum of m[r][c] * v[c] modulo p, in 0 .. p-1.
// Between the steps a value may stand anywhere in 64 bits; it is brought below p once, at the end.
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
    return s;
}

__device__ uint64_t add(uint64_t a, uint64_t b) {
    uint64_t s = a + b;
    if (s < a) s += EPS;                // 2^64 went out: 2^32 - 1 comes in
    return s;
}

extern "C" __global__ void goldilocks(const uint64_t* m, const uint64_t* v, uint64_t* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const uint64_t* row = m + (size_t)r * cols;
    uint64_t sum = 0;
    for (int c = 0; c < cols; ++c) {
        sum = add(sum, reduce((wide)row[c] * v[c]));
    }
    y[r] = sum >= P ? sum - P : sum;
}
