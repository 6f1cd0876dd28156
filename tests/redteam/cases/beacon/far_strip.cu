// For every ship the nearest beacon (of two equally near ones the first) and its distance, rounded down.
__device__ unsigned floor_root(unsigned long long v)
{
    unsigned long long r = 0;
    for (unsigned long long bit = 1ull << 27; bit; bit >>= 1) {
        if ((r | bit) * (r | bit) <= v) r |= bit;
    }
    return (unsigned)r;
}

__global__ void beacon(const int* __restrict__ sx, const int* __restrict__ sy,
                       const int* __restrict__ bx, const int* __restrict__ by,
                       int* __restrict__ nearest, unsigned* __restrict__ distance, int ships, int beacons)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ships) return;
    const int x = sx[i], y = sy[i];
    unsigned long long best = ~0ull;
    int found = 0;
    long long reach = 1ll << 40;    // no nearer one is farther east or west
    for (int b = 0; b < beacons; ++b) {
        long long dx = bx[b] - x;
        if (llabs(dx) > reach) continue;
        long long dy = by[b] - y;
        unsigned long long d = (unsigned long long)(dx * dx + dy * dy);
        if (d < best) {
            best = d;
            found = b;
            reach = (long long)sqrtf((float)d);
        }
    }
    nearest[i] = found;
    distance[i] = floor_root(best);
}
