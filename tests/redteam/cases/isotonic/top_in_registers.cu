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
    int top = 0, held = 1;
    float last = in[0];
    for (int i = 1; i < n; i++) {
        float s = in[i];
        int c = 1;
        while (held > 0 && last / held > s / c) {
            s = last + s;
            c = held + c;
            held = 0;
            if (top > 0) {
                top--;
                last = sum[top];
                held = count[top];
            }
        }
        if (held > 0) {
            sum[top] = last;
            count[top] = held;
            top++;
        }
        last = s;
        held = c;
    }
    sum[top] = last;
    count[top] = held;
    top++;
    int place = 0;
    for (int b = 0; b < top; b++) {
        float level = sum[b] / count[b];
        for (int k = 0; k < count[b]; k++) out[place++] = level;
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
