// LRU stack distances of page traces, with the stack itself: a warp per client keeps the pages in order of their
// last access, two slots a lane. The depth at which a page is found is its distance; then it moves to the front.
#include <cuda_runtime.h>

#define FULL 0xffffffffu

__global__ void stack_walk(const int* __restrict__ trace, int* __restrict__ dist, int rows, int len)
{
    int lane = threadIdx.x & 31;
    int client = (int)(((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5);
    if (client >= rows) return;
    const int* row = trace + (long long)client * len;
    int* out = dist + (long long)client * len;
    int upper = -1, lower = -1;                  // depths lane and lane + 32; 60 pages always fit
    for (int base = 0; base < len; base += 32) {
        int mine = base + lane < len ? row[base + lane] : 0;
        int answer = -1;
        int last = min(32, len - base);
        for (int t = 0; t < last; ++t) {
            int page = __shfl_sync(FULL, mine, t);
            unsigned a = __ballot_sync(FULL, upper == page);
            unsigned b = __ballot_sync(FULL, lower == page);
            int depth = a ? __ffs(a) - 1 : b ? 31 + __ffs(b) : -1;
            if (lane == t) answer = depth;
            int limit = depth < 0 ? 63 : depth;
            int u = __shfl_up_sync(FULL, upper, 1);
            int l = __shfl_up_sync(FULL, lower, 1);
            int mid = __shfl_sync(FULL, upper, 31);
            if (lane == 0) { u = page; l = mid; }
            if (lane <= limit) upper = u;
            if (lane + 32 <= limit) lower = l;
        }
        if (base + lane < len) out[base + lane] = answer;
    }
}

extern "C" void kiosk(const int* trace, int* dist, int rows, int len)
{
    stack_walk<<<(rows + 3) / 4, 128>>>(trace, dist, rows, len);
}
