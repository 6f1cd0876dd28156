// In each row of letters the shortest stretch that has all 26, and over all rows the shortest of these.
#include <cuda_runtime.h>
#include <cstdint>

constexpr int LETTERS = 26;

struct Totals {
    unsigned long long key;
    int complete;
};

__global__ void pangram_rows(const uint8_t* text, int* length, int* start, Totals* totals, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const uint8_t* t = text + (size_t)row * n;
    int last[LETTERS];
    for (int c = 0; c < LETTERS; c++) last[c] = -1;
    int oldest = -1, best = n + 1, where = -1;   // oldest: the least of the last places
    for (int i = 0; i < n; i++) {
        int c = t[i];
        bool moved = last[c] == oldest;
        last[c] = i;
        if (moved) {
            oldest = i;
#pragma unroll
            for (int d = 0; d < LETTERS; d++) oldest = min(oldest, last[d]);
        }
        if (oldest >= 0 && i - oldest + 1 < best) {
            best = i - oldest + 1;
            where = oldest;
        }
    }
    length[row] = where < 0 ? 0 : best;
    start[row] = where;
    if (where >= 0) {
        atomicAdd(&totals->complete, 1);
        atomicMin(&totals->key, ((unsigned long long)best << 32) | (unsigned)row);
    }
}

__global__ void pangram_finish(const Totals* totals, int* summary) {
    summary[0] = totals->complete;
    summary[1] = totals->complete ? (int)(unsigned)totals->key : -1;
}

// summary: how many rows have all letters, and the first row of those with the shortest stretch (or -1).
void pangram(const uint8_t* text, int* length, int* start, int* summary, int rows, int n) {
    Totals* totals;
    cudaMalloc(&totals, sizeof(Totals));
    Totals none = {~0ull, 0};
    cudaMemcpy(totals, &none, sizeof(Totals), cudaMemcpyHostToDevice);
    pangram_rows<<<(rows + 63) / 64, 64>>>(text, length, start, totals, rows, n);
    pangram_finish<<<1, 1>>>(totals, summary);
    cudaFree(totals);
}
