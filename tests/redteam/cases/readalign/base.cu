// Best local alignment of many pairs of short reads (linear gaps): the score and where it ends.
// Among cells of equal score the one with the smallest row counts, then the smallest column; a score of 0 gives (0, 0).
// One block per pair walks the anti-diagonals; three of them live in shared memory, indexed by row.
#include <cuda_runtime.h>

#define THREADS 128

__global__ void align_pairs(const signed char* a, const signed char* b, int la, int lb,
                            int match, int mismatch, int gap, int* best, int* row, int* col)
{
    extern __shared__ int cells[];
    __shared__ int top_s[THREADS], top_i[THREADS], top_j[THREADS];
    int* before = cells;                  // diagonal d-2
    int* last = cells + (la + 1);         // diagonal d-1
    int* now = cells + 2 * (la + 1);      // diagonal d
    const signed char* x = a + (size_t)blockIdx.x * la;
    const signed char* y = b + (size_t)blockIdx.x * lb;
    for (int i = threadIdx.x; i < 3 * (la + 1); i += THREADS) cells[i] = 0;
    __syncthreads();
    int s = 0, si = 0, sj = 0;
    for (int d = 2; d <= la + lb; ++d) {
        const int low = d - lb > 1 ? d - lb : 1;
        const int high = d - 1 < la ? d - 1 : la;
        for (int i = low + threadIdx.x; i <= high; i += THREADS) {
            const int j = d - i;
            int h = before[i - 1] + (x[i - 1] == y[j - 1] ? match : -mismatch);
            const int up = last[i - 1] - gap, left = last[i] - gap;
            if (up > h) h = up;
            if (left > h) h = left;
            if (h < 0) h = 0;
            now[i] = h;
            if (h > s || (h == s && h > 0 && (i < si || (i == si && j < sj)))) { s = h; si = i; sj = j; }
        }
        __syncthreads();
        int* t = before; before = last; last = now; now = t;
    }
    top_s[threadIdx.x] = s; top_i[threadIdx.x] = si; top_j[threadIdx.x] = sj;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 1; t < THREADS; ++t) {
            const int h = top_s[t], i = top_i[t], j = top_j[t];
            if (h > s || (h == s && h > 0 && (i < si || (i == si && j < sj)))) { s = h; si = i; sj = j; }
        }
        best[blockIdx.x] = s;
        row[blockIdx.x] = si;
        col[blockIdx.x] = sj;
    }
}

extern "C" void readalign(const signed char* a, const signed char* b, int* best, int* row, int* col,
                          int pairs, int la, int lb, int match, int mismatch, int gap)
{
    const size_t shared = 3 * (size_t)(la + 1) * sizeof(int);
    align_pairs<<<pairs, THREADS, shared>>>(a, b, la, lb, match, mismatch, gap, best, row, col);
}
