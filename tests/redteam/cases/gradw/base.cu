// The gradient of a layer's weights: columns of what went in times columns of what came back.
__global__ void gradw(const float* x, const float* g, float* dw, int m, int k, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)k * n) return;
    size_t row = i / n, column = i % n;
    float sum = 0.f;
    for (int r = 0; r < m; ++r) sum += x[(size_t)r * k + row] * g[(size_t)r * n + column];
    dw[i] = sum;
}
