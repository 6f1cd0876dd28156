// In each row of letters the shortest stretch that has all 26, and over all rows the shortest of these.
#include <cuda_runtime.h>
#include <cstdint>

constexpr int LETTERS = 26;

struct Totals {
    unsigned long long key;
    int complete;
};

// A warp for each row: a lane for each piece, behind what the pieces before it saw last.
__global__ void pangram_rows(const uint8_t* text, int* length, int* start, Totals* totals, int rows, int n) {
    __shared__ int seen[2][LETTERS][32];
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (row >= rows) return;
    const uint8_t* t = text + (size_t)row * n;
    int each = (n + 31) / 32, from = min(n, lane * each), to = min(n, from + each);
    for (int c = 0; c < LETTERS; c++) seen[warp][c][lane] = -1;
    for (int i = from; i < to; i++) seen[warp][t[i]][lane] = i;
    for (int c = 0; c < LETTERS; c++) {
        int v = seen[warp][c][lane];
        for (int d = 1; d < 32; d <<= 1) {
            int u = __shfl_up_sync(0xffffffffu, v, d);
            if (lane >= d) v = max(v, u);
        }
        v = __shfl_up_sync(0xffffffffu, v, 1);
        seen[warp][c][lane] = lane ? v : -1;
    }
    unsigned long long key = ~0ull;
    for (int i = from; i < to; i++) {
        seen[warp][t[i]][lane] = i;
        int oldest = i;
        for (int c = 0; c < LETTERS; c++) oldest = min(oldest, seen[warp][c][lane]);
        if (oldest >= 0) key = min(key, ((unsigned long long)(i - oldest + 1) << 32) | (unsigned)oldest);
    }
    for (int d = 16; d; d >>= 1) key = min(key, __shfl_xor_sync(0xffffffffu, key, d));
    if (lane) return;
    bool whole = key != ~0ull;
    int best = (int)(key >> 32);
    length[row] = whole ? best : 0;
    start[row] = whole ? (int)(unsigned)key : -1;
    if (whole) {
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
    pangram_rows<<<(rows + 1) / 2, 64>>>(text, length, start, totals, rows, n);
    pangram_finish<<<1, 1>>>(totals, summary);
    cudaFree(totals);
}
