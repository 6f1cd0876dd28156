#include <cuda_runtime.h>
#include <stdint.h>

// A slope for each move, divided once and kept for the next bend: the sign of
// a bend is the order of two slopes, turned round where the moves go to
// opposite sides. Upright moves are left to the cross product.

__global__ void veer(const int16_t* x, const int16_t* y,
                     int* left, int* right, int* back, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int16_t* xr = x + (size_t)row * n;
    const int16_t* yr = y + (size_t)row * n;

    int l = 0, r = 0, b = 0;
    int px = 0, py = 0;                    // the last move
    float ps = 0.0f;                       // and its slope
    for (int i = 1; i < n; ++i) {
        int dx = xr[i] - xr[i - 1];
        int dy = yr[i] - yr[i - 1];
        if (dx == 0 && dy == 0) continue;
        float s = dx != 0 ? (float)dy / (float)dx : 0.0f;
        int turn;
        if (px != 0 && dx != 0) {
            turn = (s > ps) - (s < ps);
            if ((px ^ dx) < 0) turn = -turn;
        } else {
            long long cross = (long long)px * dy - (long long)py * dx;
            turn = (cross > 0) - (cross < 0);
        }
        l += turn > 0;
        r += turn < 0;
        b += turn == 0 && ((long long)px * dx < 0 || (long long)py * dy < 0);
        px = dx;
        py = dy;
        ps = s;
    }
    left[row] = l;
    right[row] = r;
    back[row] = b;
}
