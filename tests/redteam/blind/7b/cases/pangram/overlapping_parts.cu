// In each row of letters the shortest stretch that has all 26, and over all rows the shortest of these.
#include <cuda_runtime.h>
#include <cstdint>

constexpr int LETTERS = 26;

struct Totals {
    unsigned long long key;
    int complete;
};

// Four threads for each row: each looks at a quarter of the ends, and begins so far ahead of them as a stretch may be.
__global__ void pangram_rows(const uint8_t* text, int* length, int* start, Totals* totals, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 2;
    int part = threadIdx.x & 3;
    if (row >= rows) return;
    const uint8_t* t = text + (size_t)row * n;
    int count[LETTERS];
    for (int c = 0; c < LETTERS; c++) count[c] = 0;
    int each = (n + 3) / 4, from = min(n, part * each), to = min(n, from + each);
    int distinct = 0, left = max(0, from - 16 * LETTERS), best = n + 1, where = -1;
    for (int i = left; i < to; i++) {
        if (count[t[i]]++ == 0) distinct++;
        while (count[t[left]] > 1) count[t[left++]]--;
        if (distinct == LETTERS && i - left + 1 < best) {
            best = i - left + 1;
            where = left;
        }
    }
    unsigned four = 15u << (threadIdx.x & 28);
    unsigned long long key = where < 0 ? ~0ull : ((unsigned long long)best << 32) | (unsigned)where;
    key = min(key, __shfl_xor_sync(four, key, 1));
    key = min(key, __shfl_xor_sync(four, key, 2));
    if (part) return;
    best = (int)(key >> 32);
    where = key == ~0ull ? -1 : (int)(unsigned)key;
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
    pangram_rows<<<(rows + 15) / 16, 64>>>(text, length, start, totals, rows, n);
    pangram_finish<<<1, 1>>>(totals, summary);
    cudaFree(totals);
}
