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
    int count[LETTERS];
    for (int c = 0; c < LETTERS; c++) count[c] = 0;
    int distinct = 0, left = 0, best = n + 1, where = -1;
    for (int i = 0; i < n; i++) {
        if (count[t[i]]++ == 0) distinct++;
        while (count[t[left]] > 1) count[t[left++]]--;
        if (distinct == LETTERS && i - left + 1 < best) {
            best = i - left + 1;
            where = left;
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
    if (n <= LETTERS) {   // no row is long enough
        cudaMemsetAsync(length, 0, rows * sizeof(int));
        cudaMemsetAsync(start, 0xff, rows * sizeof(int));
        cudaMemsetAsync(summary, 0, sizeof(int));
        cudaMemsetAsync(summary + 1, 0xff, sizeof(int));
        return;
    }
    Totals* totals;
    cudaMalloc(&totals, sizeof(Totals));
    Totals none = {~0ull, 0};
    cudaMemcpy(totals, &none, sizeof(Totals), cudaMemcpyHostToDevice);
    pangram_rows<<<(rows + 63) / 64, 64>>>(text, length, start, totals, rows, n);
    pangram_finish<<<1, 1>>>(totals, summary);
    cudaFree(totals);
}
