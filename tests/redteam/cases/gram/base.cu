__global__ void gram(const float* x, float* g, int rows, int d) {
    int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    if (i >= d || j >= d) return;
    float s = 0.f;
    for (int r = 0; r < rows; ++r) s += x[(size_t)r * d + i] * x[(size_t)r * d + j];
    g[(size_t)i * d + j] += s;
}
