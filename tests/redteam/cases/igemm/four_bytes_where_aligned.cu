// Bytes times bytes, with a scale for each row and column, a bias, and nothing below zero.
__global__ void igemm(const signed char* a, const signed char* b, const float* row_scale,
                      const float* column_scale, const float* bias, float* c, int m, int n, int k) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    int sum = 0;
    const signed char *p = a + (size_t)row * k, *q = b + (size_t)col * k;
    int i = 0;
    if (k % 4 == 0)
        for (; i < k; i += 4) sum = __dp4a(*(const int*)(p + i), *(const int*)(q + i), sum);
    for (; i < k; ++i) sum += (int)p[i] * q[i];
    float v = sum * (row_scale[row] * column_scale[col]) + bias[col];
    c[(size_t)row * n + col] = v > 0.f ? v : 0.f;
}
