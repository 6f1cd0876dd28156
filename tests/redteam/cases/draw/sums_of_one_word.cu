typedef unsigned Sum;

// One token of each row, drawn with whole weights: the first up to which the weights add to more than the
// share `u` of 2^32 of all. A row without weight draws -1.
__global__ void draw(const unsigned* weight, const unsigned* u, int* token, int rows, int cols) {
    // A warp a row: 32 weights at a time are added up over the lanes.
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const unsigned* w = weight + (size_t)r * cols;
    Sum all = 0, before = 0;
    for (int c = lane; c < cols; c += 32) all += w[c];
    for (int d = 16; d > 0; d /= 2) all += __shfl_xor_sync(0xffffffffu, all, d);
    Sum target = __umulhi(all, u[r]);
    int found = -1;
    for (int start = 0; start < cols && found < 0; start += 32) {
        Sum upto = start + lane < cols ? w[start + lane] : 0u;
        for (int d = 1; d < 32; d *= 2) {
            Sum left = __shfl_up_sync(0xffffffffu, upto, d);
            if (lane >= d) upto += left;
        }
        unsigned past = __ballot_sync(0xffffffffu, before + upto > target);
        if (past) found = start + __ffs(past) - 1;
        before += __shfl_sync(0xffffffffu, upto, 31);
    }
    if (lane == 0) token[r] = found;
}
