// What a product of two matrices leaves of a third: r = d - a * b.
__global__ void residual(const float* a, const float* b, const float* d, float* r, int n, int k, int m) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)n * m) return;
    const float *row = a + i / m * k, *col = b + i % m;
    float sum = 0.f;
    for (int c = 0; c < k; ++c) sum += row[c] * col[(size_t)c * m];
    r[i] = d[i] - sum;
}
