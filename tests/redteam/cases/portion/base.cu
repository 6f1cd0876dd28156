// The portion of each number in the sum of the magnitudes of its row.
__global__ void portion(const float* x, float* y, int rows, int cols) {
    __shared__ float part[256];
    int r = blockIdx.x, t = threadIdx.x;
    float sum = 0.f;
    for (int c = t; c < cols; c += 256) sum += fabsf(x[(size_t)r * cols + c]);
    part[t] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    sum = fmaxf(part[0], 1e-12f);
    for (int c = t; c < cols; c += 256) y[(size_t)r * cols + c] = x[(size_t)r * cols + c] / sum;
}
