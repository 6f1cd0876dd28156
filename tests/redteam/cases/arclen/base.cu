// How long each line through its points is; a single point has no length.
__global__ void arclen(const float* x, const float* y, float* out, int rows, int m) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float *p = x + (size_t)r * m, *q = y + (size_t)r * m;
    float sum = 0.f;
    for (int k = 1; k < m; ++k) {
        float dx = p[k] - p[k - 1], dy = q[k] - q[k - 1];
        sum += sqrtf(dx * dx + dy * dy);
    }
    out[r] = sum;
}
