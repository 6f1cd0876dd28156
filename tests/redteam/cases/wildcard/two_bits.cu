#include <cstdint>

// Shell-like prefixes: of each row's text the shortest and the longest prefix that the row's pattern matches
// (`${text#pattern}` and `${text##pattern}`), as lengths, or -1 where no prefix is matched.
// Letters are 0..3; in a pattern 4 stands for any one letter and 5 for any run of letters, an empty one too.
#define ANY 4
#define STAR 5

#define WORDS 32

__device__ __forceinline__ int letter(const unsigned* x, int t) { return (x[(t >> 4) & (WORDS - 1)] >> ((t & 15) * 2)) & 3; }

__device__ void match_row(const unsigned* x, int len, const uint8_t* p, int m, int* lo, int* hi) {
    int t = 0, j = 0, star = -1, mark = 0;
    while (j < m) {
        if (p[j] == STAR) {
            star = j++;
            mark = t;
        } else if (t < len && (p[j] == ANY || p[j] == letter(x, t))) {
            j++;
            t++;
        } else if (t < len && star >= 0) {
            t = ++mark;
            j = star + 1;
        } else {
            *lo = *hi = -1;
            return;
        }
    }
    *lo = t;
    if (star < 0) {
        *hi = t;
        return;
    }
    // what follows the last star may lie further right
    int tail = m - 1 - star;
    for (int s = len - tail;; s--) {
        int k = 0;
        while (k < tail && (p[star + 1 + k] == ANY || p[star + 1 + k] == letter(x, s + k))) k++;
        if (k == tail) {
            *hi = s + tail;
            return;
        }
    }
}

__global__ void wildcard(const uint8_t* text, const int* length, const uint8_t* pattern, int* shortest, int* longest,
                         int rows, int n, int m) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int lo, hi;
    unsigned packed[WORDS];
    const uint8_t* x = text + (size_t)row * n;
    for (int t = 0; t < length[row]; t += 16) {
        unsigned word = 0;
        for (int k = 0; k < 16 && t + k < length[row]; k++) word |= (unsigned)x[t + k] << (2 * k);
        packed[(t >> 4) & (WORDS - 1)] = word;
    }
    match_row(packed, length[row], pattern + (size_t)row * m, m, &lo, &hi);
    shortest[row] = lo;
    longest[row] = hi;
}
