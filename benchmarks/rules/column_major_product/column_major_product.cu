// C = alpha * A * B + beta * C, all in column order as BLAS has it.
#define IDX2C(i, j, ld) (((j) * (ld)) + (i))

__global__ void sgemm_columns(int m, int n, int k, float alpha, const float *A, const float *B,
                              float beta, float *C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) {
        float prod = 0.0f;
        for (int p = 0; p < k; ++p) {
            prod += A[IDX2C(i, p, m)] * B[IDX2C(p, j, k)];
        }
        C[IDX2C(i, j, m)] = alpha * prod + beta * C[IDX2C(i, j, m)];
    }
}
