// A times the transpose of B, one number a thread, taken apart into row and column.
__global__ void flat_product(const float *A, const float *B, float *C, int m, int n, int k)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int total = m * n;
    if (idx < total) {
        int row = idx / n;
        int col = idx % n;
        float sum = 0.0f;
        for (int t = 0; t < k; t++) {
            sum += A[row * k + t] * B[col * k + t];
        }
        C[idx] = sum;
    }
}

void multiply(const float *A, const float *B, float *C, int m, int n, int k)
{
    int threads = 256;
    int blocks = (m * n + threads - 1) / threads;
    flat_product<<<blocks, threads>>>(A, B, C, m, n, k);
}
