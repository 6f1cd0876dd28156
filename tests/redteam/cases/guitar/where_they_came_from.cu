#include <cuda_runtime.h>

// Where a point of a string is next; what is beyond its ends does not move.
__device__ double moved(double left, double own, double right, double before, double r) {
    return fma(r, left + right - 2. * own, 2. * own - before);
}

// Up to eight steps at once: a block has 256 points, and eight more on either side, which go wrong from their ends on,
// a point a step.
__global__ void some(const double* at, const double* before, double* at_then, double* before_then, int n, int steps,
                     double r) {
    __shared__ double own[2][274];
    int t = threadIdx.x;
    long long i = blockIdx.x * 256ll + t - 8;
    bool in = i >= 0 && i < n;
    double c = in ? at[i] : 0., p = in ? before[i] : 0.;
    if (t < 2) own[t][0] = own[t][273] = 0.;
    own[0][t + 1] = c;
    for (int s = 0; s < steps; ++s) {
        __syncthreads();
        double next = in ? moved(own[s & 1][t], c, own[s & 1][t + 2], p, r) : 0.;
        p = c;
        c = next;
        own[s + 1 & 1][t + 1] = c;
    }
    if (t < 8 || t >= 264 || !in) return;
    at_then[i] = c;
    before_then[i] = p;
}

// A plucked string, so many steps on; `before` is where it was a step ago. Points go where they came from.
extern "C" void guitar(double* at, double* before, int n, int steps, double r) {
    for (int s = 0; s < steps; s += 8)
        some<<<(n + 255) / 256, 272>>>(at, before, at, before, n, min(8, steps - s), r);
}
