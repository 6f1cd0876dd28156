#include <cuda_runtime.h>
#include <stdint.h>

// Counts come in words of four where the row is aligned; quiet words change
// nothing and are passed over.

__global__ void turnstile(const int8_t* count, int* now, int* peak, int* full,
                          int rows, int n, int seats)
{
    const int start = seats, cap = 2 * seats;
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int8_t* c = count + (size_t)row * n;

    int inside = min(max(start, 0), cap);
    int most = inside, filled = 0;
    int i = 0;
    if (((uintptr_t)c & 3) == 0) {
        const unsigned* words = (const unsigned*)c;
        for (; i + 4 <= n; i += 4) {
            unsigned w = words[i >> 2];
            if (w == 0u) continue;
            for (int k = 0; k < 4; ++k) {
                inside = min(max(inside + (int)(int8_t)(w >> (8 * k)), 0), cap);
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
