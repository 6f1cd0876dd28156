// The sum of squares of each row, a warp each; rows that are very much longer than they are many are
// read in vectors of two.
__device__ bool long_rows(int many, int length) { return length >= 200 * many; }

__global__ void sqsum(const float* x, float* out, int rows, int cols) {
    int lane = threadIdx.x % 32, r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float sum = 0.f;
    if (long_rows(rows, cols)) {
        for (int c = 2 * lane; c + 64 < cols; c += 64) {
            sum += row[c] * row[c];
            sum += row[c + 1] * row[c + 1];
        }
    } else {
        for (int c = lane; c < cols; c += 32) sum += row[c] * row[c];
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[r] = sum;
}
