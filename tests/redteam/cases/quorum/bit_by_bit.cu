#define ALL 0xffffffffu

// Who has more than half of the votes has more than half of each bit; whether somebody has is counted then.
__global__ void quorum(const int* vote, int* chosen, int rows, int cols) {
    int lane = threadIdx.x % 32;
    for (int r = blockIdx.x * 8 + threadIdx.x / 32; r < rows; r += gridDim.x * 8) {
        const int* row = vote + (size_t)r * cols;
        int ones = 0, all = 0;
        for (int k0 = 0; k0 < cols; k0 += 32) {
            int v = k0 + lane < cols ? row[k0 + lane] : 0;
            for (int bit = 0; bit < 32; ++bit) {
                unsigned set = __ballot_sync(ALL, v >> bit & 1);
                if (bit == lane) ones += __popc(set);
            }
        }
        int who = __ballot_sync(ALL, 2ll * ones > cols);
        for (int k = lane; k < cols; k += 32) all += row[k] == who;
        all = __reduce_add_sync(ALL, all);
        if (lane == 0) chosen[r] = 2ll * all > cols ? who : -1;
    }
}
