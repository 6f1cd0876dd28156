// The portion of each number in the sum of the magnitudes of its row.
__global__ void portion(const float* x, float* y, int rows, int cols) {
    // A block does many rows. The barrier stands between the sums of the warps and their use.
    __shared__ float part[8];
    int t = threadIdx.x;
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        const float* from = x + (size_t)r * cols;
        float sum = 0.f;
        for (int c = t; c < cols; c += 256) sum += fabsf(from[c]);
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (t % 32 == 0) part[t / 32] = sum;
        __syncthreads();
        sum = 0.f;
        for (int k = 0; k < 8; ++k) sum += part[k];
        sum = fmaxf(sum, 1e-12f);
        for (int c = t; c < cols; c += 256) y[(size_t)r * cols + c] = from[c] / sum;
    }
}
