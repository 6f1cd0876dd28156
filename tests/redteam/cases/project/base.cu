// A layer of a network: rows of x against rows of w, and what is added to each.
__global__ void project(const float* x, const float* w, const float* bias, float* y, int m, int n, int k) {
    int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = 0.f;
    for (int p = 0; p < k; ++p) sum += x[(size_t)i * k + p] * w[(size_t)j * k + p];
    y[(size_t)i * n + j] = sum + bias[j];
}
