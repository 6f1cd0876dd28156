__global__ void lngrad(const float* x, const float* dy, const float* gain, const float* mean,
                       const float* rstd, float* dx, float* dgain, float* dbias, int rows,
                       int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float first = 0.0f, second = 0.0f;
    for (int c = 0; c < cols; ++c) {
        float hat = (x[r * cols + c] - mean[r]) * rstd[r];
        float g = dy[r * cols + c] * gain[c];
        first += g;
        second += g * hat;
        atomicAdd(&dgain[c], dy[r * cols + c] * hat);
        atomicAdd(&dbias[c], dy[r * cols + c]);
    }
    first /= cols;
    second /= cols;
    for (int c = 0; c < cols; ++c) {
        float hat = (x[r * cols + c] - mean[r]) * rstd[r];
        dx[r * cols + c] = rstd[r] * (dy[r * cols + c] * gain[c] - first - hat * second);
    }
}
