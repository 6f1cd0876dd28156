// LRU stack distances of page traces. Pages are numbered 0..59: one 64-bit word holds the set of pages seen on the
// way back. A block belongs to one client, which saves the 64-bit division.
#include <cuda_runtime.h>

__global__ void stack_distance(const int* __restrict__ trace, int* __restrict__ dist, int len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= len) return;
    long long at = (long long)blockIdx.y * len;
    const int* row = trace + at;
    int page = row[i];
    unsigned long long seen = 0;
    int p = i - 1;
    for (; p >= 0; --p) {
        int q = row[p];
        if (q == page) break;
        seen |= 1ull << q;
    }
    dist[at + i] = p < 0 ? -1 : __popcll(seen);
}

extern "C" void kiosk(const int* trace, int* dist, int rows, int len)
{
    dim3 grid((len + 95) / 96, rows);
    stack_distance<<<grid, 96>>>(trace, dist, len);
}
