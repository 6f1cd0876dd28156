#include <cuda_runtime.h>
#include <stdint.h>

// A warp per track, 32 moves at a time. The move before a lane's own is the
// nearest lower lane that moved (ballot), or the last one of the tile before.
__global__ void veer(const int16_t* x, const int16_t* y,
                     int* left, int* right, int* back, int rows, int n)
{
    int row = blockIdx.x * 4 + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (row >= rows) return;
    const int16_t* xr = x + (size_t)row * n;
    const int16_t* yr = y + (size_t)row * n;

    int l = 0, r = 0, b = 0;
    int lastx = 0, lasty = 0;              // last move of the tile before
    for (int base = 1; base < n; base += 32) {
        int i = base + lane;
        int dx = 0, dy = 0;
        if (i < n) {
            dx = xr[i] - xr[i - 1];
            dy = yr[i] - yr[i - 1];
        }
        bool moves = dx != 0 || dy != 0;
        unsigned mask = __ballot_sync(0xffffffffu, moves);
        unsigned below = mask & ((1u << lane) - 1u);
        int src = below ? 31 - __clz(below) : 0;
        int px = __shfl_sync(0xffffffffu, dx, src);
        int py = __shfl_sync(0xffffffffu, dy, src);
        if (!below) { px = lastx; py = lasty; }
        if (moves) {
            long long cross = (long long)px * dy - (long long)py * dx;
            if (cross > 0) l++;
            else if (cross < 0) r++;
            else if ((long long)px * dx + (long long)py * dy < 0) b++;
        }
        int top = 31 - __clz(mask);
        lastx = __shfl_sync(0xffffffffu, dx, top & 31);
        lasty = __shfl_sync(0xffffffffu, dy, top & 31);
    }
    for (int d = 16; d; d >>= 1) {
        l += __shfl_xor_sync(0xffffffffu, l, d);
        r += __shfl_xor_sync(0xffffffffu, r, d);
        b += __shfl_xor_sync(0xffffffffu, b, d);
    }
    if (lane == 0) { left[row] = l; right[row] = r; back[row] = b; }
}
