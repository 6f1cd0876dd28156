#include <cuda_runtime.h>
#include <stdint.h>

// Four counts at a time without limits where none can be reached, found by
// one unsigned comparison.

__global__ void turnstile(const int8_t* count, int* now, int* peak, int* full,
                          int rows, int n, int seats)
{
    const int start = seats, cap = 2 * seats;
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int8_t* c = count + (size_t)row * n;

    int inside = min(max(start, 0), cap);
    int most = inside, filled = 0;
    const int margin = 4 * 128;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        int a0 = c[i], a1 = a0 + c[i + 1], a2 = a1 + c[i + 2], a3 = a2 + c[i + 3];
        if ((unsigned)(inside - margin) < (unsigned)(cap - 2 * margin)) {
            most = max(most, inside + max(max(a0, a1), max(a2, a3)));
            inside += a3;
        } else {
            for (int k = i; k < i + 4; ++k) {
                inside = min(max(inside + c[k], 0), cap);
                most = max(most, inside);
                filled += inside == cap;
            }
        }
    }
    for (; i < n; ++i) {
        inside = min(max(inside + c[i], 0), cap);
        most = max(most, inside);
        filled += inside == cap;
    }
    now[row] = inside;
    peak[row] = most;
    full[row] = filled;
}
