// C = alpha A B + beta C; where beta is zero, C is written and not read.
__global__ void gemmab(const float* a, const float* b, float* c, int m, int n, int k, float alpha,
                       float beta) {
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float s = 0.f;
    for (int p = 0; p < k; p += 16) {
        ta[y][x] = row < m && p + x < k ? a[row * k + p + x] : 0.f;
        tb[y][x] = col < n && p + y < k ? b[(p + y) * n + col] : 0.f;
        __syncthreads();
        for (int q = 0; q < 16; ++q) s += ta[y][q] * tb[q][x];
        __syncthreads();
    }
    if (row < m && col < n) {
        float* at = c + row * n + col;
        *at = beta == 0.f ? alpha * s : alpha * s + *at;
    }
}
