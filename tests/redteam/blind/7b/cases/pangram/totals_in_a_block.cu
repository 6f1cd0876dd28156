// In each row of letters the shortest stretch that has all 26, and over all rows the shortest of these.
#include <cuda_runtime.h>
#include <cstdint>

constexpr int LETTERS = 26;

__global__ void pangram_rows(const uint8_t* text, int* length, int* start, int rows, int n) {
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
}

__global__ void pangram_finish(const int* length, int* summary, int rows) {
    __shared__ unsigned long long least[32];
    unsigned long long key = ~0ull;
    int complete = 0;
    for (int first = 0; first < rows; first += blockDim.x) {
        int row = first + threadIdx.x;
        int l = row < rows ? length[row] : 0;
        complete += __syncthreads_count(l > 0);
        if (l > 0) key = min(key, ((unsigned long long)l << 32) | (unsigned)row);
    }
    for (int d = 16; d; d >>= 1) key = min(key, __shfl_xor_sync(0xffffffffu, key, d));
    if ((threadIdx.x & 31) == 0) least[threadIdx.x >> 5] = key;
    __syncthreads();
    if (threadIdx.x < 32) {
        key = least[threadIdx.x];
        for (int d = 16; d; d >>= 1) key = min(key, __shfl_xor_sync(0xffffffffu, key, d));
        if (threadIdx.x == 0) {
            summary[0] = complete;
            summary[1] = complete ? (int)(unsigned)key : -1;
        }
    }
}

// summary: how many rows have all letters, and the first row of those with the shortest stretch (or -1).
void pangram(const uint8_t* text, int* length, int* start, int* summary, int rows, int n) {
    pangram_rows<<<(rows + 63) / 64, 64>>>(text, length, start, rows, n);
    pangram_finish<<<1, 1024>>>(length, summary, rows);
}
