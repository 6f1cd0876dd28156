// The sum of the columns of each row from `from` on and before `to`. What lies outside of the row is left
// out, and an empty range has the sum 0.
__global__ void slab(const float* x, float* out, int rows, int cols, int from, int to) {
    // A warp a row. Whether a column is between both ends is one comparison of unsigned numbers.
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    unsigned wide = (unsigned)to - (unsigned)from;
    const float* p = x + (size_t)r * cols;
    float sum = 0.f;
    for (int c = (max(from, 0) & ~31) + lane; c < cols; c += 32) {
        if ((unsigned)c - (unsigned)from < wide)
            sum += p[c];
        else if (c >= from)
            break;
    }
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[r] = sum;
}
