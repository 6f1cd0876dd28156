#include <cuda_runtime.h>
#include <stdint.h>

// One fused multiply-add gives the cross product without the cancellation of
// two rounded products; no 64-bit integer products.

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
        float cross = fmaf((float)px, (float)dy, -((float)py * (float)dx));
        if (cross > 0.0f) l++;
        else if (cross < 0.0f) r++;
        else if ((long long)px * dx < 0 || (long long)py * dy < 0) b++;   // collinear
        px = dx;
        py = dy;
    }
    left[row] = l;
    right[row] = r;
    back[row] = b;
}
