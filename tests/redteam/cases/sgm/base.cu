// Semi-global matching, the path from left to right: what a disparity of a point has cost up to here. Going on with the
// same disparity is free, with the next p1, with any other p2; the least of the point before is taken off, so that the
// sums stay small. A block takes a row.
extern "C" __global__ void sgm(const unsigned char* cost, unsigned short* path, int w, int disp, int p1, int p2) {
    extern __shared__ int room[];
    __shared__ int part[32];
    int* before = room;
    int* now = room + disp;
    size_t row = (size_t)blockIdx.x * w * disp;
    int least = 0, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int x = 0; x < w; ++x) {
        int mine = 2147483647;
        for (int d = threadIdx.x; d < disp; d += blockDim.x) {
            size_t at = row + (size_t)x * disp + d;
            int sum = cost[at];
            if (x > 0) {
                int best = min(before[d], least + p2);
                if (d > 0) best = min(best, before[d - 1] + p1);
                if (d + 1 < disp) best = min(best, before[d + 1] + p1);
                sum += best - least;
            }
            now[d] = sum;
            path[at] = (unsigned short)sum;
            mine = min(mine, sum);
        }
        mine = __reduce_min_sync(0xffffffffu, mine);
        if (lane == 0) part[warp] = mine;
        __syncthreads();
        least = part[0];
        for (int i = 1; i < (int)blockDim.x / 32; ++i) least = min(least, part[i]);
        int* other = before;
        before = now;
        now = other;
        __syncthreads();
    }
}
