// Semi-global matching, the path from left to right: what a disparity of a point has cost up to here. Going on with the
// same disparity is free, with the next p1, with any other p2; the least of the point before is taken off, so that the
// sums stay small. A warp takes a row; up to 128
// disparities are in its registers, as bytes, four of a lane.
extern "C" __global__ void __launch_bounds__(32)
    sgm(const unsigned char* __restrict__ cost, unsigned short* __restrict__ path, int w, int disp, int p1, int p2) {
    extern __shared__ int room[];
    const int none = 2147483647;
    size_t row = (size_t)blockIdx.x * w * disp;
    int least = 0, lane = threadIdx.x;
    if (disp > 128 || disp % 4 || p1 < 0 || p2 < p1 || p1 + p2 > 190) {
        int* before = room;
        int* now = room + disp;
        for (int x = 0; x < w; ++x) {
            int mine = none;
            for (int d = lane; d < disp; d += 32) {
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
            least = __reduce_min_sync(0xffffffffu, mine);
            int* other = before;
            before = now;
            now = other;
            __syncwarp();
        }
        return;
    }
    // The least is taken off, so that no sum is above the highest cost and p2 together.
    unsigned one = p1 * 0x01010101u, any = p2 * 0x01010101u, sum = 0;
    bool there = 4 * lane < disp, last = 4 * lane + 4 >= disp;
    for (int x = 0; x < w; ++x) {
        size_t at = row + (size_t)x * disp + 4 * lane;
        unsigned own = 0;
        if (there) own = cost[at] | cost[at + 1] << 8 | cost[at + 2] << 16 | (unsigned)cost[at + 3] << 24;
        unsigned left = __shfl_up_sync(0xffffffffu, sum, 1), right = __shfl_down_sync(0xffffffffu, sum, 1);
        if (x > 0) {
            if (lane == 0) left = 0xffffffffu;
            if (last) right = 0xffffffffu;
            unsigned below = __byte_perm(left, sum, 0x6543), above = __byte_perm(sum, right, 0x4321);
            unsigned base = least * 0x01010101u;
            unsigned best = __vminu4(sum, __vaddus4(base, any));
            best = __vminu4(best, __vminu4(__vaddus4(below, one), __vaddus4(above, one)));
            own = __vaddus4(own, __vsub4(best, base));
        }
        sum = own;
        int mine = 255;
        if (there) {
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                int value = sum >> 8 * k & 255;
                path[at + k] = (unsigned short)value;
                mine = min(mine, value);
            }
        }
        least = __reduce_min_sync(0xffffffffu, mine);
    }
}
