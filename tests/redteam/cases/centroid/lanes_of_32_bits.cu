// The column at which each row of weights is in balance, rounded down; of a row without weight zero.
// A lane has a part of the columns, for which 32 bits are enough; the warp adds in 64.
__device__ unsigned long long of_warp(unsigned long long v) {
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

__global__ void centroid(const int* w, int* at, int rows, int cols) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int* mine = w + (size_t)row * cols;
    unsigned part = 0, heavy = 0;
    for (int c = lane; c < cols; c += 32) {
        part += (unsigned)mine[c] * c;
        heavy += mine[c];
    }
    unsigned long long moment = of_warp(part), weight = of_warp(heavy);
    if (lane) return;
    at[row] = weight ? (int)(moment / weight) : 0;
}
