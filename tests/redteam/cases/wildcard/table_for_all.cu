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

#define ROOM 400

__device__ __forceinline__ bool same(int a, int b) { return a == b || a == ANY || b == ANY; }

__global__ void wildcard(const uint8_t* text, const int* length, const uint8_t* pattern, int* shortest, int* longest,
                         int rows, int n, int m) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const uint8_t* x = text + (size_t)row * n;
    const uint8_t* p = pattern + (size_t)row * m;
    int len = length[row];
    int lo, hi;
    if (m > ROOM) {
        match_row(x, len, p, m, &lo, &hi);
        shortest[row] = lo;
        longest[row] = hi;
        return;
    }
    short back[ROOM];
    int first = 0;
    while (first < m && p[first] != STAR) first++;
    bool ok = first <= len;
    for (int k = 0; ok && k < first; k++) ok = p[k] == ANY || p[k] == x[k];
    int t = first, j = first, begin = 0, size = first;
    while (ok && j < m) {
        begin = j + 1;
        size = 0;
        bool plain = true;
        while (begin + size < m && p[begin + size] != STAR) {
            plain = plain && p[begin + size] != ANY;
            size++;
        }
        j = begin + size;
        if (size == 0) continue;
        const uint8_t* q = p + begin;
        if (size > 1 || plain) {
            back[0] = 0;
            for (int i = 1, k = 0; i < size; i++) {
                while (k > 0 && !same(q[i], q[k])) k = back[k - 1];
                if (same(q[i], q[k])) k++;
                back[i] = (short)k;
            }
            int k = 0;
            while (t < len && k < size) {
                while (k > 0 && !same(x[t], q[k])) k = back[k - 1];
                if (same(x[t], q[k])) k++;
                t++;
            }
            ok = k == size;
        } else {
            int s = t;
            ok = false;
            for (; s + size <= len && !ok; s++) {
                int k = 0;
                while (k < size && (q[k] == ANY || q[k] == x[s + k])) k++;
                ok = k == size;
                t = s + size;
            }
        }
    }
    lo = hi = -1;
    if (ok) {
        lo = hi = t;
        if (first < m) {
            for (int s = len - size;; s--) {
                int k = 0;
                while (k < size && (p[begin + k] == ANY || p[begin + k] == x[s + k])) k++;
                if (k == size) {
                    hi = s + size;
                    break;
                }
            }
        }
    }
    shortest[row] = lo;
    longest[row] = hi;
}
