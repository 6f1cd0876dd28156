#include <cstdint>

// Shell-like prefixes: of each row's text the shortest and the longest prefix that the row's pattern matches
// (`${text#pattern}` and `${text##pattern}`), as lengths, or -1 where no prefix is matched.
// Letters are 0..3; in a pattern 4 stands for any one letter and 5 for any run of letters, an empty one too.
#define ANY 4
#define STAR 5

__device__ void match_row(const uint8_t* x, int len, const uint8_t* p, int m, int* lo, int* hi) {
    int t = 0, j = 0, star = -1, mark = 0;
    while (j < m) {
        if (p[j] == STAR) {
            star = j++;
            mark = t;
        } else if (t < len && (p[j] == ANY || p[j] == x[t])) {
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
        while (k < tail && (p[star + 1 + k] == ANY || p[star + 1 + k] == x[s + k])) k++;
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
    const uint8_t* x = text + (size_t)row * n;
    const uint8_t* p = pattern + (size_t)row * m;
    int len = length[row];
    int lo = -1, hi = -1;
    if (m > 64) {
        match_row(x, len, p, m, &lo, &hi);
    } else {
        // a bit for each place in the pattern
        unsigned long long a0 = 0, a1 = 0, a2 = 0, a3 = 0, stars = 0;
        for (int j = 0; j < m; j++) {
            unsigned long long bit = 1ull << j;
            int c = p[j];
            if (c == 0 || c == ANY) a0 |= bit;
            if (c == 1 || c == ANY) a1 |= bit;
            if (c == 2 || c == ANY) a2 |= bit;
            if (c == 3 || c == ANY) a3 |= bit;
            if (c == STAR) stars |= bit;
        }
        unsigned long long last = 1ull << m;
        unsigned long long now = 1;
        for (int t = 0;; t++) {
            now |= ((now & stars) + stars) ^ stars;
            if (now & last) {
                if (lo < 0) lo = t;
                hi = t;
            }
            if (t >= len || now == 0) break;
            int c = x[t];
            unsigned long long fits = c < 2 ? (c ? a1 : a0) : (c == 2 ? a2 : a3);
            now = ((now & fits) << 1) | (now & stars);
        }
    }
    shortest[row] = lo;
    longest[row] = hi;
}
