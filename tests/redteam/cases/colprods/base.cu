// Every column times every column.
__global__ void colprods(const float* x, float* g, int rows, int d) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= d || j >= d) return;
    float s = 0.f;
    for (int r = 0; r < rows; ++r) s += x[(size_t)r * d + i] * x[(size_t)r * d + j];
    g[(size_t)i * d + j] = s;
}
