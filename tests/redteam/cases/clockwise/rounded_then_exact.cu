// How often a path of n points turns left, turns right and goes straight on (or back, or rests).
__global__ void clockwise(const int* __restrict__ x, const int* __restrict__ y,
                          int* __restrict__ turns, int paths, int n)
{
    int p = blockIdx.x * blockDim.y + threadIdx.y;
    if (p >= paths) return;
    const int* px = x + (size_t)p * n;
    const int* py = y + (size_t)p * n;
    int left = 0, right = 0, straight = 0;
    for (int i = 1 + threadIdx.x; i + 1 < n; i += 32) {
        int ax = px[i] - px[i - 1], ay = py[i] - py[i - 1];
        int bx = px[i + 1] - px[i], by = py[i + 1] - py[i];
        double l = (double)ax * by, r = (double)ay * bx;
        if (l > r) ++left;
        else if (l < r) ++right;
        else {
            long long cross = (long long)ax * by - (long long)ay * bx;
            if (cross > 0) ++left;
            else if (cross < 0) ++right;
            else ++straight;
        }
    }
    for (int o = 16; o; o >>= 1) {
        left += __shfl_down_sync(~0u, left, o);
        right += __shfl_down_sync(~0u, right, o);
        straight += __shfl_down_sync(~0u, straight, o);
    }
    if (threadIdx.x == 0) {
        turns[3 * p] = left;
        turns[3 * p + 1] = right;
        turns[3 * p + 2] = straight;
    }
}
