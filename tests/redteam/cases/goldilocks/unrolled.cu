// Matrix times vector over the field of p = 2^64 - 2^32 + 1: y[r] = sum of m[r][c] * v[c] modulo p, in 0 .. p-1.
// The entries are below 2^63, so that four products and a remainder go into 128 bits: one reduction for four products.
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

extern "C" __global__ void goldilocks(const uint64_t* m, const uint64_t* v, uint64_t* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const uint64_t* row = m + (size_t)r * cols;
    wide sum = 0;
    int c = 0;
    for (; c + 4 <= cols; c += 4) {
        wide part = reduce(sum);
        part += (wide)row[c] * v[c];
        part += (wide)row[c + 1] * v[c + 1];
        part += (wide)row[c + 2] * v[c + 2];
        part += (wide)row[c + 3] * v[c + 3];
        sum = part;
    }
    for (; c < cols; ++c) {
        sum += (wide)row[c] * v[c];
    }
    y[r] = reduce(sum);
}
