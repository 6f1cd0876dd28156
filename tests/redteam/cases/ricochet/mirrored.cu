// Balls on a line of `span` cells between two walls. A ball that starts at x (anywhere on the unfolded line) and moves v
// cells a tick is, after t ticks, at x + v*t of the unfolded line; every other copy of the lane is mirrored.
// cell gets the cell inside the walls, hits the number of walls passed on the way from lane 0 (a wall is struck once per
// lane boundary), and heat counts the balls that come to rest in each cell, on top of what it holds.
extern "C" __global__ void ricochet(const int* __restrict__ x, const int* __restrict__ v, int* __restrict__ cell,
                                    long long* __restrict__ hits, int* __restrict__ heat, int n, int span, int t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const long long p = x[i] + (long long)v[i] * t;
    // The unfolded line is its own mirror image about the wall at -1/2: left of it, cell -1-p looks the same, one wall on.
    const unsigned long long m = (unsigned long long)(p ^ (p >> 63));
    const unsigned long long q = m / (unsigned)span;
    const unsigned r = (unsigned)(m - q * (unsigned)span);
    const int c = (q & 1) ? span - 1 - (int)r : (int)r;
    cell[i] = c;
    hits[i] = (long long)q - (p >> 63);
    atomicAdd(heat + c, 1);
}
