// Matrix products of a batch, a layer of blocks each.
__global__ void batched_product(const float *__restrict__ A, const float *__restrict__ B,
                                float *__restrict__ C, int m, int n, int k)
{
    const int batch = blockIdx.z;
    const float *a = A + batch * m * k;
    const float *b = B + batch * k * n;
    float *c = C + batch * m * n;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += a[row * k + p] * b[p * n + col];
        c[row * n + col] = sum;
    }
}
