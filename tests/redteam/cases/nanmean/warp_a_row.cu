// The mean of each row over what is a number; of nothing it is none.
__global__ void nanmean(const float* x, float* mean, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    if (r >= rows) return;
    float s = 0.f;
    int many = 0;
    for (int c = lane; c < cols; c += 32) {
        float v = x[(size_t)r * cols + c];
        if (v == v) {
            s += v;
            ++many;
        }
    }
    for (int d = 16; d; d /= 2) {
        s += __shfl_xor_sync(~0u, s, d);
        many += __shfl_xor_sync(~0u, many, d);
    }
    if (lane == 0) mean[r] = s / many;
}
