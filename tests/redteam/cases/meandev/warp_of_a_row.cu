// How far the numbers of a row are from their mean, on average. A warp has a row, and each lane four sums of each kind.
__global__ void meandev(const float* x, float* out, int rows, int cols) {
    size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* own = x + row * cols;
    float s[4] = {}, f[4] = {};
    long long c = lane;
    for (; c + 96 < cols; c += 128)
        for (int k = 0; k < 4; ++k) s[k] += own[c + 32 * k];
    for (; c < cols; c += 32) s[0] += own[c];
    float sum = (s[0] + s[1]) + (s[2] + s[3]);
    for (int w = 16; w; w /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, w);
    float mean = sum / cols;
    for (c = lane; c + 96 < cols; c += 128)
        for (int k = 0; k < 4; ++k) f[k] += fabsf(own[c + 32 * k] - mean);
    for (; c < cols; c += 32) f[0] += fabsf(own[c] - mean);
    float far = (f[0] + f[1]) + (f[2] + f[3]);
    for (int w = 16; w; w /= 2) far += __shfl_xor_sync(0xffffffffu, far, w);
    if (lane == 0) out[row] = far / cols;
}
