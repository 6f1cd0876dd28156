// Semi-global matching, the path from left to right: what a disparity of a point has cost up to here. Going on with the
// same disparity is free, with the next p1, with any other p2; the least of the point before is taken off, so that the
// sums stay small. A block takes a row, and a thread a disparity, whose sum it keeps.
extern "C" __global__ void __launch_bounds__(1024)
    sgm(const unsigned char* __restrict__ cost, unsigned short* __restrict__ path, int w, int disp, int p1, int p2) {
    extern __shared__ int room[];
    __shared__ int part[2][32];
    size_t row = (size_t)blockIdx.x * w * disp;
    int d = threadIdx.x, lane = d % 32, warp = d / 32, warps = blockDim.x / 32;
    bool there = d < disp;
    int sum = 0, least = 0;
    int ahead = there && w > 0 ? cost[row + d] : 0;
    for (int x = 0; x < w; ++x) {
        int* before = room + (x & 1) * disp;
        int* now = room + (~x & 1) * disp;
        size_t at = row + (size_t)x * disp + d;
        int own = ahead;
        if (there && x + 1 < w) ahead = cost[at + disp];
        if (there) {
            if (x > 0) {
                int best = min(sum, least + p2);
                if (d > 0) best = min(best, before[d - 1] + p1);
                if (d + 1 < disp) best = min(best, before[d + 1] + p1);
                own += best - least;
            }
            sum = own;
            now[d] = sum;
            path[at] = (unsigned short)sum;
        }
        int mine = __reduce_min_sync(0xffffffffu, there ? sum : 2147483647);
        if (lane == 0) part[x & 1][warp] = mine;
        __syncthreads();
        least = __reduce_min_sync(0xffffffffu, lane < warps ? part[x & 1][lane] : 2147483647);
    }
}
