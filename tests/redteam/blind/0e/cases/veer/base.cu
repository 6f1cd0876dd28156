#include <cuda_runtime.h>
#include <stdint.h>

// Turns along tracks of n grid points each: how often a track bends left,
// bends right, and turns straight back. Points at rest (equal to the one
// before) are passed over: a bend is between two successive moves.

__global__ void veer(const int16_t* x, const int16_t* y,
                     int* left, int* right, int* back, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int16_t* xr = x + (size_t)row * n;
    const int16_t* yr = y + (size_t)row * n;

    int l = 0, r = 0, b = 0;
    int px = 0, py = 0;                    // the last move
    for (int i = 1; i < n; ++i) {
        int dx = xr[i] - xr[i - 1];
        int dy = yr[i] - yr[i - 1];
        if (dx == 0 && dy == 0) continue;
        long long cross = (long long)px * dy - (long long)py * dx;
        if (cross > 0) l++;
        else if (cross < 0) r++;
        else if ((long long)px * dx + (long long)py * dy < 0) b++;
        px = dx;
        py = dy;
    }
    left[row] = l;
    right[row] = r;
    back[row] = b;
}
