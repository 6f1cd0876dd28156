#include <cuda_runtime.h>
#include <stdint.h>

// Left and right counts share a register, right in the upper half.

__global__ void veer(const int16_t* x, const int16_t* y,
                     int* left, int* right, int* back, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int16_t* xr = x + (size_t)row * n;
    const int16_t* yr = y + (size_t)row * n;

    unsigned lr = 0;
    int b = 0;
    int px = 0, py = 0;                    // the last move
    for (int i = 1; i < n; ++i) {
        int dx = xr[i] - xr[i - 1];
        int dy = yr[i] - yr[i - 1];
        if (dx == 0 && dy == 0) continue;
        long long cross = (long long)px * dy - (long long)py * dx;
        lr += (cross > 0 ? 1u : 0u) + (cross < 0 ? 0x10000u : 0u);
        if (cross == 0 && ((long long)px * dx < 0 || (long long)py * dy < 0)) b++;
        px = dx;
        py = dy;
    }
    left[row] = lr & 0xffffu;
    right[row] = lr >> 16;
    back[row] = b;
}
