// The column at which each row of weights is in balance, rounded down; of a row without weight zero.
// Both sums are whole and the quotient in double is put right by what it leaves.
__device__ unsigned long long of_warp(unsigned long long v) {
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

__global__ void centroid(const int* w, int* at, int rows, int cols) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int* mine = w + (size_t)row * cols;
    unsigned long long moment = 0, weight = 0;
    for (int c = lane; c < cols; c += 32) {
        moment += (unsigned long long)mine[c] * c;
        weight += mine[c];
    }
    moment = of_warp(moment), weight = of_warp(weight);
    if (lane) return;
    long long column = 0;
    if (weight) {
        column = (long long)((double)moment / (double)weight);
        long long rest = (long long)(moment - column * weight);
        if (rest < 0) --column;
        if (rest >= (long long)weight) ++column;
    }
    at[row] = (int)column;
}
