// Matrix times vector over the field of p = 2^64 - 2^32 + 1: y[r] = sum of m[r][c] * v[c] modulo p, in 0 .. p-1.
// The products are added up as whole numbers of three words; one reduction at the end.
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
    unsigned over = 0;                  // in units of 2^128
    for (int c = 0; c < cols; ++c) {
        wide product = (wide)row[c] * v[c];
        sum += product;
        over += sum < product;
    }
    // 2^128 = 2^32 * 2^96 = -2^32 modulo p
    uint64_t part = reduce(sum), less = (uint64_t)over << 32;
    y[r] = part >= less ? part - less : part - less + P;
}
