#include <cstdint>

// Shell-like prefixes: of each row's text the shortest and the longest prefix that the row's pattern matches
// (`${text#pattern}` and `${text##pattern}`), as lengths, or -1 where no prefix is matched.
// Letters are 0..3; in a pattern 4 stands for any one letter and 5 for any run of letters, an empty one too.
#define ANY 4
#define STAR 5

__device__ __forceinline__ bool fits(const uint8_t* x, const uint8_t* p, int q) {
    for (int k = 0; k < q; k++)
        if (p[k] != ANY && p[k] != x[k]) return false;
    return true;
}

__global__ void wildcard(const uint8_t* text, const int* length, const uint8_t* pattern, int* shortest, int* longest,
                         int rows, int n, int m) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (row >= rows) return;
    const uint8_t* x = text + (size_t)row * n;
    const uint8_t* p = pattern + (size_t)row * m;
    int len = length[row];
    int t = 0, j = 0, lo = -1, hi = -1;
    bool free_start = false, ok = true;
    int from = 0, size = 0;          // the last piece
    while (true) {
        int e = j;
        while (e < m && p[e] != STAR) e++;
        from = j;
        size = e - j;
        if (!free_start) {
            ok = size <= len && fits(x, p, size);
            t = size;
        } else if (size > 0) {
            int found = -1;
            for (int s = t; found < 0 && s + size <= len; s += 32) {
                bool mine = s + lane + size <= len && fits(x + s + lane, p + from, size);
                unsigned all = __ballot_sync(0xffffffffu, mine);
                if (all) found = s + __ffs(all) - 1;
            }
            ok = found >= 0;
            t = found + size;
        }
        if (!ok || e == m) break;
        free_start = true;
        j = e + 1;
    }
    if (ok) {
        lo = t;
        hi = t;
        if (free_start) {
            for (int s = len - size;; s -= 32) {
                bool mine = s - lane >= 0 && fits(x + s - lane, p + from, size);
                unsigned all = __ballot_sync(0xffffffffu, mine);
                if (all) {
                    hi = s - (__ffs(all) - 1) + size;
                    break;
                }
            }
        }
    }
    if (lane == 0) {
        shortest[row] = lo;
        longest[row] = hi;
    }
}
