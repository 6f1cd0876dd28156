// The portion of each number in the sum of the magnitudes of its row.
__global__ void portion(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x, t = threadIdx.x;
    const float* from = x + (size_t)r * cols;
    float* to = y + (size_t)r * cols;
    float sum = 0.f;
    if (cols < 8) {
        for (int c = 0; c < cols; ++c) sum += fabsf(from[c]);
    } else {
        for (int c = t; c < cols; c += 256) sum += fabsf(from[c]);
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        // The row to be written is not needed yet: it holds the sums of the warps.
        if (t % 32 == 0) to[t / 32] = sum;
        __syncthreads();
        sum = 0.f;
        for (int k = 0; k < 8; ++k) sum += to[k];
    }
    sum = fmaxf(sum, 1e-12f);
    for (int c = t; c < cols; c += 256) to[c] = from[c] / sum;
}
