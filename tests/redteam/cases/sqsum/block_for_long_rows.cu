// The sum of squares of each row: where some are much longer than they are many all of a block goes
// through one after the other, else each warp has its own.
__global__ void sqsum(const float* x, float* out, int rows, int cols) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (rows > 64 && cols > 24 * rows) {
        __shared__ float part[32];
        for (int r = blockIdx.x; r < rows; r += gridDim.x) {
            const float* row = x + (size_t)r * cols;
            float sum = 0.f;
            for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += row[c] * row[c];
            for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
            if (lane == 0) part[warp] = sum;
            __syncthreads();
            if (threadIdx.x == 0) {
                float all = 0.f;
                for (int w = 0; w < warps; ++w) all += part[w];
                out[r] = all;
            }
            __syncthreads();
        }
        return;
    }
    int r = blockIdx.x * warps + warp;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float sum = 0.f;
    for (int c = lane; c < cols; c += 32) sum += row[c] * row[c];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[r] = sum;
}
