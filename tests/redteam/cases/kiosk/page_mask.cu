// LRU stack distances of page traces. Pages are numbered 0..59, so the set of pages seen on the way back to the
// previous access is one 64-bit word.
#include <cuda_runtime.h>

__global__ void stack_distance(const int* __restrict__ trace, int* __restrict__ dist, int rows, int len)
{
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= (long long)rows * len) return;
    int i = (int)(id % len);
    const int* row = trace + (id - i);
    int page = row[i];
    unsigned long long seen = 0;
    int p = i - 1;
    for (; p >= 0; --p) {
        int q = row[p];
        if (q == page) break;
        seen |= 1ull << q;
    }
    dist[id] = p < 0 ? -1 : __popcll(seen);
}

extern "C" void kiosk(const int* trace, int* dist, int rows, int len)
{
    long long total = (long long)rows * len;
    stack_distance<<<(unsigned)((total + 127) / 128), 128>>>(trace, dist, rows, len);
}
