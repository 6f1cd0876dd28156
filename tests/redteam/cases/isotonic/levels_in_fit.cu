// Isotonic regression of each row: the non-decreasing sequence that is nearest in least squares, by pooling adjacent
// violators.
#include <cuda_runtime.h>

__global__ void pool_rows(const float* y, float* fit, float* sums, int* counts, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* in = y + (size_t)row * n;
    float* out = fit + (size_t)row * n;
    float* sum = sums + (size_t)row * n;
    int* count = counts + (size_t)row * n;
    int top = 0;
    for (int i = 0; i < n; i++) {
        float s = in[i];
        int c = 1;
        while (top > 0 && out[top - 1] > s / c) {
            top--;
            s = sum[top] + s;
            c = count[top] + c;
        }
        sum[top] = s;
        count[top] = c;
        out[top] = s / c;
        top++;
    }
    int place = n;
    for (int b = top - 1; b >= 0; b--) {
        float level = out[b];
        for (int k = count[b]; k > 0; k--) out[--place] = level;
    }
}

void isotonic(const float* y, float* fit, int rows, int n)
{
    float* sums;
    int* counts;
    cudaMalloc(&sums, (size_t)rows * n * sizeof(float));
    cudaMalloc(&counts, (size_t)rows * n * sizeof(int));
    pool_rows<<<(rows + 31) / 32, 32>>>(y, fit, sums, counts, rows, n);
    cudaFree(sums);
    cudaFree(counts);
}
