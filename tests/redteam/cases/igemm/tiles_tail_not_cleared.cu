// Bytes times bytes, with a scale for each row and column, a bias, and nothing below zero.
__global__ void igemm(const signed char* a, const signed char* b, const float* row_scale,
                      const float* column_scale, const float* bias, float* c, int m, int n, int k) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    __shared__ signed char as[16][36], bs[16][36];
    int sum = 0;
    for (int at = 0; at < k; at += 32) {
        for (int j = threadIdx.x; j < 32; j += 16) {
            int r = blockIdx.y * 16 + threadIdx.y, s = blockIdx.x * 16 + threadIdx.y;
            if (r < m && at + j < k) as[threadIdx.y][j] = a[(size_t)r * k + at + j];
            if (s < n && at + j < k) bs[threadIdx.y][j] = b[(size_t)s * k + at + j];
        }
        __syncthreads();
        for (int j = 0; j < 32; ++j) sum += (int)as[threadIdx.y][j] * bs[threadIdx.x][j];
        __syncthreads();
    }
    if (row >= m || col >= n) return;
    float v = sum * (row_scale[row] * column_scale[col]) + bias[col];
    c[(size_t)row * n + col] = v > 0.f ? v : 0.f;
}
