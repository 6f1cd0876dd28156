// Balls on a line of `span` cells between two walls. A ball that starts at x (anywhere on the unfolded line) and moves v
// cells a tick is, after t ticks, at x + v*t of the unfolded line; every other copy of the lane is mirrored.
// cell gets the cell inside the walls, hits the number of walls passed on the way from lane 0 (a wall is struck once per
// lane boundary), and heat counts the balls that come to rest in each cell, on top of what it holds.
extern "C" __global__ void ricochet(const int* __restrict__ x, const int* __restrict__ v, int* __restrict__ cell,
                                    long long* __restrict__ hits, int* __restrict__ heat, int n, int span, int t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // 30000 cells a tick for 20000 ticks and the start together stay well inside 32 bits: a quarter of the division
    const int p = x[i] + v[i] * t;
    int q = p / span;                     // the lane, rounded down
    int r = p - q * span;
    if (r < 0) { r += span; --q; }
    const int c = (q & 1) ? span - 1 - (int)r : (int)r;
    cell[i] = c;
    hits[i] = q < 0 ? -q : q;
    atomicAdd(heat + c, 1);
}
