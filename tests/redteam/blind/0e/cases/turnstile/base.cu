#include <cuda_runtime.h>
#include <stdint.h>

// People in halls from the counts at their turnstiles: n counts a hall, above
// zero in, below zero out. A hall starts half full; it never holds fewer than none (miscounts) nor
// more than cap (the rest are turned away).
//   now  = people at the end      peak = most people after any count
//   full = number of counts after which the hall was full

__global__ void turnstile(const int8_t* count, int* now, int* peak, int* full,
                          int rows, int n, int seats)
{
    const int start = seats, cap = 2 * seats;
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int8_t* c = count + (size_t)row * n;

    int inside = min(max(start, 0), cap);
    int most = inside, filled = 0;
    for (int i = 0; i < n; ++i) {
        inside += c[i];
        if (inside < 0) inside = 0;
        if (inside > cap) inside = cap;
        most = max(most, inside);
        if (inside == cap) filled++;
    }
    now[row] = inside;
    peak[row] = most;
    full[row] = filled;
}
