__global__ void window(const float* x, float* y, int n, int radius, float weight) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = -radius; k <= radius; ++k)
        if (i + k >= 0 && i + k < n) s += x[i + k];
    y[i] = s / (2 * radius + 1);
}
