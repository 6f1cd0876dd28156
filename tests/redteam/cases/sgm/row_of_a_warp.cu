// Semi-global matching, the path from left to right: what a disparity of a point has cost up to here. Going on with the
// same disparity is free, with the next p1, with any other p2; the least of the point before is taken off, so that the
// sums stay small. A warp takes a row; up to 256
// disparities are in its registers, eight of a lane.
#define EACH 8
extern "C" __global__ void __launch_bounds__(32)
    sgm(const unsigned char* __restrict__ cost, unsigned short* __restrict__ path, int w, int disp, int p1, int p2) {
    extern __shared__ int room[];
    const int none = 2147483647;
    size_t row = (size_t)blockIdx.x * w * disp;
    int least = 0, lane = threadIdx.x;
    if (disp > 32 * EACH) {
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
    int each = (disp + 31) / 32, first = lane * each;
    int sum[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) sum[k] = 0;
    for (int x = 0; x < w; ++x) {
        size_t at = row + (size_t)x * disp + first;
        int last = sum[0];
#pragma unroll
        for (int k = 1; k < EACH; ++k)
            if (k < each) last = sum[k];
        int left = __shfl_up_sync(0xffffffffu, last, 1), right = __shfl_down_sync(0xffffffffu, sum[0], 1);
        int mine = none, back = left;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            int d = first + k;
            if (k < each && d < disp) {
                int own = cost[at + k], old = sum[k];
                if (x > 0) {
                    int best = min(old, least + p2);
                    if (d > 0) best = min(best, back + p1);
                    int next = k + 1 < each && k + 1 < EACH ? sum[(k + 1) % EACH] : right;
                    if (d + 1 < disp) best = min(best, next + p1);
                    own += best - least;
                }
                sum[k] = own;
                back = old;
                path[at + k] = (unsigned short)own;
                mine = min(mine, own);
            }
        }
        least = __reduce_min_sync(0xffffffffu, mine);
    }
}
