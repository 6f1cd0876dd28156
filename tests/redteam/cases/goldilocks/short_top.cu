// Matrix times vector over the field of p = 2^64 - 2^32 + 1: y[r] = sum of m[r][c] * v[c] modulo p, in 0 .. p-1.
// Words of the product are folded: 2^64 = 2^32 - 1 and 2^96 = -1 modulo p.
#include <cstdint>

typedef unsigned __int128 wide;
#define P 0xffffffff00000001ull
#define EPS 0xffffffffull               /* 2^64 modulo p */

__device__ uint64_t reduce(wide t) {
    uint64_t lo = (uint64_t)t, hi = (uint64_t)(t >> 64);
    uint64_t s = lo - (hi >> 32);       // the top word has 32 bits only
    uint64_t u = (hi & EPS) * EPS;
    s += u;
    if (s < u) s += EPS;
    return s >= P ? s - P : s;
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
