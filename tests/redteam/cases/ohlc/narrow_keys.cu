// Minute bars of trades in any order: the price of the first trade (of several in that second the one that comes
// first in the list) and of the last, the highest, the lowest, and what was traded. A minute without trades has the
// closing price before it for all four, and zeros before the first trade.
#include <cuda_runtime.h>
#include <climits>
#include <cstdint>

// Of lists of up to 2^26 trades the second of the minute and the place fit a word.
__device__ unsigned place(unsigned key) { return key & 0x3ffffffu; }
__device__ unsigned place(unsigned long long key) { return (unsigned)key; }

template <typename Key>
__global__ void clear(Key* first, Key* last, int* high, int* low,
                      unsigned long long* traded, int bars) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= bars) return;
    first[b] = ~(Key)0;
    last[b] = 0;
    high[b] = INT_MIN;
    low[b] = INT_MAX;
    traded[b] = 0;
}

template <typename Key>
__global__ void trades(const int* when, const int* price, const int* size, Key* first,
                       Key* last, int* high, int* low, unsigned long long* traded, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int b = when[i] / 60;
    Key key = sizeof(Key) == 4 ? (Key)(when[i] % 60) << 26 | (Key)i : (Key)when[i] << (sizeof(Key) * 4) | (Key)i;
    atomicMin(&first[b], key);
    atomicMax(&last[b], key);
    atomicMax(&high[b], price[i]);
    atomicMin(&low[b], price[i]);
    atomicAdd(&traded[b], (unsigned long long)size[i]);
}

template <typename Key>
__global__ void finish(const int* price, const Key* first, const Key* last,
                       int* open, int* high, int* low, int* close, int bars) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= bars) return;
    if (first[b] != ~(Key)0) {
        open[b] = price[place(first[b])];
        close[b] = price[place(last[b])];
        return;
    }
    int j = b - 1;
    while (j >= 0 && first[j] == ~(Key)0) j--;
    int before = j >= 0 ? price[place(last[j])] : 0;
    open[b] = high[b] = low[b] = close[b] = before;
}

template <typename Key>
static void bars_of(const int* when, const int* price, const int* size, int* open, int* high, int* low, int* close,
                    unsigned long long* traded, int n, int bars) {
    Key *first, *last;
    cudaMallocAsync(&first, bars * sizeof(Key), 0);
    cudaMallocAsync(&last, bars * sizeof(Key), 0);
    clear<<<(bars + 255) / 256, 256>>>(first, last, high, low, traded, bars);
    trades<<<(n + 255) / 256, 256>>>(when, price, size, first, last, high, low, traded, n);
    finish<<<(bars + 255) / 256, 256>>>(price, first, last, open, high, low, close, bars);
    cudaFreeAsync(first, 0);
    cudaFreeAsync(last, 0);
}

void ohlc(const int* when, const int* price, const int* size, int* open, int* high, int* low, int* close,
          unsigned long long* traded, int n, int bars) {
    if (n <= 1 << 26)
        bars_of<unsigned>(when, price, size, open, high, low, close, traded, n, bars);
    else
        bars_of<unsigned long long>(when, price, size, open, high, low, close, traded, n, bars);
}
