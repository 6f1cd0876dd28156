// The column at which each row of weights is in balance, rounded down; of a row without weight zero.
// A lane adds in 32 bits within runs of 128 columns, where that is enough, and moves a run's moment to
// its first column in 64.
__device__ unsigned long long of_warp(unsigned long long v) {
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

__global__ void centroid(const int* w, int* at, int rows, int cols) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int* mine = w + (size_t)row * cols;
    unsigned long long moment = 0, weight = 0;
    for (int from = 0; from < cols; from += 128) {
        // At most 4 * 65535 * 127 and 4 * 65535.
        unsigned turned = 0, heavy = 0;
        for (int k = lane; k < 128; k += 32) {
            unsigned v = from + k < cols ? mine[from + k] : 0;
            turned += v * k;
            heavy += v;
        }
        moment += turned + (unsigned long long)heavy * from;
        weight += heavy;
    }
    moment = of_warp(moment), weight = of_warp(weight);
    if (lane == 0) at[row] = weight ? (int)(moment / weight) : 0;
}
