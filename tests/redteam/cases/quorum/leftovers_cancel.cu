#define ALL 0xffffffffu

__global__ void quorum(const int* vote, int* chosen, int rows, int cols) {
    int lane = threadIdx.x % 32;
    for (int r = blockIdx.x * 8 + threadIdx.x / 32; r < rows; r += gridDim.x * 8) {
        const int* row = vote + (size_t)r * cols;
        int left = 0, who = -1, all = 0;
        for (int k = lane; k < cols; k += 32) {
            int v = row[k];
            if (left == 0) who = v;
            left += v == who ? 1 : -1;
        }
        for (int d = 16; d > 0; d /= 2) {
            int other = __shfl_down_sync(ALL, who, d), theirs = __shfl_down_sync(ALL, left, d);
            if (other == who) {
                left += theirs;
            } else {
                if (theirs > left) who = other;
                left = abs(left - theirs);
            }
        }
        who = __shfl_sync(ALL, who, 0);
        for (int k = lane; k < cols; k += 32) all += row[k] == who;
        all = __reduce_add_sync(ALL, all);
        if (lane == 0) chosen[r] = 2ll * all > cols ? who : -1;
    }
}
