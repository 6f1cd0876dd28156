// Isotonic regression of each row: the non-decreasing sequence that is nearest in least squares, by pooling adjacent
// violators.
#include <cuda_runtime.h>

__global__ void pool_rows(const float* y, float* fit, float* sums, int* counts, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* in = y + (size_t)row * n;
    float* out = fit + (size_t)row * n;
    float* prefix = sums + (size_t)row * (n + 1);
    int* begin = counts + (size_t)row * n;
    prefix[0] = 0.0f;
    for (int i = 0; i < n; i++) prefix[i + 1] = prefix[i] + in[i];
    int top = 0;
    for (int i = 0; i < n; i++) {
        int from = i;
        float level = in[i];
        while (top > 0) {
            int b = begin[top - 1];
            float before = (prefix[from] - prefix[b]) / (from - b);
            if (!(before > level)) break;
            from = b;
            level = (prefix[i + 1] - prefix[b]) / (i + 1 - b);
            top--;
        }
        begin[top++] = from;
    }
    for (int b = 0; b < top; b++) {
        int from = begin[b], end = b + 1 < top ? begin[b + 1] : n;
        float level = (prefix[end] - prefix[from]) / (end - from);
        for (int k = from; k < end; k++) out[k] = level;
    }
}

void isotonic(const float* y, float* fit, int rows, int n)
{
    float* sums;
    int* counts;
    cudaMalloc(&sums, (size_t)rows * (n + 1) * sizeof(float));
    cudaMalloc(&counts, (size_t)rows * n * sizeof(int));
    pool_rows<<<(rows + 31) / 32, 32>>>(y, fit, sums, counts, rows, n);
    cudaFree(sums);
    cudaFree(counts);
}
