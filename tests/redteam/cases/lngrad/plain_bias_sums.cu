__global__ void lngrad(const float* x, const float* dy, const float* gain, const float* mean,
                       const float* rstd, float* dx, float* dgain, float* dbias, int rows,
                       int cols) {
    const int lane = threadIdx.x & 31, r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (r >= rows) return;
    const float m = mean[r], s = rstd[r];
    float first = 0.0f, second = 0.0f;
    for (int c = lane; c < cols; c += 32) {
        const float hat = (x[r * cols + c] - m) * s, d = dy[r * cols + c];
        first += d * gain[c];
        second += d * gain[c] * hat;
        atomicAdd(dgain + c, d * hat);
        dbias[c] += d;
    }
    for (int o = 16; o; o >>= 1) {
        first += __shfl_xor_sync(~0u, first, o);
        second += __shfl_xor_sync(~0u, second, o);
    }
    for (int c = lane; c < cols; c += 32)
        dx[r * cols + c] = s * (dy[r * cols + c] * gain[c] - first / cols -
                                (x[r * cols + c] - m) * s * (second / cols));
}
