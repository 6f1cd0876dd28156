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
    unsigned here = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) return;
    int t = when[i], p = price[i], b = t / 60;
    unsigned same = __match_any_sync(here, b);
    int early = __reduce_min_sync(same, t), late = __reduce_max_sync(same, t);
    unsigned from = __reduce_min_sync(same, t == early ? (unsigned)i : 0xffffffffu);
    unsigned to = __reduce_max_sync(same, t == late ? (unsigned)i : 0u);
    int top = __reduce_max_sync(same, p), bottom = __reduce_min_sync(same, p);
    unsigned sum = __reduce_add_sync(same, (unsigned)size[i]);
    if ((int)(threadIdx.x & 31) != __ffs(same) - 1) return;
    atomicMin(&first[b], (unsigned long long)early << 32 | from);
    atomicMax(&last[b], (unsigned long long)late << 32 | to);
    atomicMax(&high[b], top);
    atomicMin(&low[b], bottom);
    atomicAdd(&traded[b], (unsigned long long)sum);
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
