#include <cuda_runtime.h>

// Where a point of a string is next; what is beyond its ends does not move.
__device__ double moved(double left, double own, double right, double before, double r) {
    return fma(r, left + right - 2. * own, 2. * own - before);
}

// Each point is where it was before, then where it is next.
__global__ void one(const double* at, double* before, int n, double r) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    double left = i ? at[i - 1] : 0., right = i + 1 < n ? at[i + 1] : 0.;
    before[i] = moved(left, at[i], right, before[i], r);
}

__global__ void swapped(double* a, double* b, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = a[i];
    a[i] = b[i];
    b[i] = v;
}

// A plucked string, so many steps on; `before` is where it was a step ago.
extern "C" void guitar(double* at, double* before, int n, int steps, double r) {
    double *now = at, *last = before;
    for (int s = 0; s < steps; ++s) {
        one<<<(n + 255) / 256, 256>>>(now, last, n, r);
        double* next = last;
        last = now;
        now = next;
    }
    if (steps % 2) swapped<<<(n + 255) / 256, 256>>>(at, before, n);
}
