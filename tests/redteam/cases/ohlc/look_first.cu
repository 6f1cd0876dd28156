// Minute bars of trades in any order: the price of the first trade (of several in that second the one that comes
// first in the list) and of the last, the highest, the lowest, and what was traded. A minute without trades has the
// closing price before it for all four, and zeros before the first trade.
#include <cuda_runtime.h>
#include <climits>
#include <cstdint>

__global__ void clear(unsigned long long* first, unsigned long long* last, int* high, int* low,
                      unsigned long long* traded, int bars) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= bars) return;
    first[b] = ~0ull;
    last[b] = 0;
    high[b] = INT_MIN;
    low[b] = INT_MAX;
    traded[b] = 0;
}

__global__ void trades(const int* when, const int* price, const int* size, unsigned long long* first,
                       unsigned long long* last, int* high, int* low, unsigned long long* traded, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int b = when[i] / 60;
    unsigned long long key = (unsigned long long)when[i] << 32 | (unsigned)i;
    int p = price[i];
    if (key < first[b]) atomicMin(&first[b], key);
    if (key > last[b]) atomicMax(&last[b], key);
    if (p > high[b]) atomicMax(&high[b], p);
    if (p < low[b]) atomicMin(&low[b], p);
    atomicAdd(&traded[b], (unsigned long long)size[i]);
}

__global__ void finish(const int* price, const unsigned long long* first, const unsigned long long* last,
                       int* open, int* high, int* low, int* close, int bars) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= bars) return;
    if (first[b] != ~0ull) {
        open[b] = price[(unsigned)first[b]];
        close[b] = price[(unsigned)last[b]];
        return;
    }
    int j = b - 1;
    while (j >= 0 && first[j] == ~0ull) j--;
    int before = j >= 0 ? price[(unsigned)last[j]] : 0;
    open[b] = high[b] = low[b] = close[b] = before;
}

void ohlc(const int* when, const int* price, const int* size, int* open, int* high, int* low, int* close,
          unsigned long long* traded, int n, int bars) {
    unsigned long long *first, *last;
    cudaMallocAsync(&first, bars * sizeof(unsigned long long), 0);
    cudaMallocAsync(&last, bars * sizeof(unsigned long long), 0);
    clear<<<(bars + 255) / 256, 256>>>(first, last, high, low, traded, bars);
    trades<<<(n + 255) / 256, 256>>>(when, price, size, first, last, high, low, traded, n);
    finish<<<(bars + 255) / 256, 256>>>(price, first, last, open, high, low, close, bars);
    cudaFreeAsync(first, 0);
    cudaFreeAsync(last, 0);
}
