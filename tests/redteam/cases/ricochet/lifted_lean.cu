// Balls on a line of `span` cells between two walls. A ball that starts at x (anywhere on the unfolded line) and moves v
// cells a tick is, after t ticks, at x + v*t of the unfolded line; every other copy of the lane is mirrored.
// cell gets the cell inside the walls, hits the number of walls passed on the way from lane 0 (a wall is struck once per
// lane boundary), and heat counts the balls that come to rest in each cell, on top of what it holds.
extern "C" __global__ void ricochet(const int* __restrict__ x, const int* __restrict__ v, int* __restrict__ cell,
                                    long long* __restrict__ hits, int* __restrict__ heat, int n, int span, int t)
{
    __shared__ unsigned long long inverse;
    if (threadIdx.x == 0) inverse = ~0ull / (unsigned)span + 1ull;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const long long p = x[i] + (long long)v[i] * t;
    // Raised by a whole number of double lanes, so that the dividend is never negative; then 2^64/span, rounded up, does
    // the division exactly: dividends stay below 2^42.
    const unsigned long long lift = 2ull * ((1ull << 40) / (unsigned)span + 1ull);
    const unsigned long long u = (unsigned long long)(p + (long long)(lift * (unsigned)span));
    const unsigned long long w = __umul64hi(u, inverse);
    const int r = (int)(u - w * (unsigned)span);
    const long long q = (long long)(w - lift);
    const int c = (q & 1) ? span - 1 - r : r;
    cell[i] = c;
    hits[i] = q < 0 ? -q : q;
    atomicAdd(heat + c, 1);
}
