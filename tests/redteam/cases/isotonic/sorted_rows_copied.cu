// Isotonic regression of each row: the non-decreasing sequence that is nearest in least squares, by pooling adjacent
// violators.
#include <cuda_runtime.h>

__global__ void mark_sorted(const float* y, int* sorted, int rows, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* in = y + (size_t)row * n;
    bool rising = true;
    for (int from = 0; from < n; from += 32) {
        int i = from + lane;
        float v = i < n ? in[i] : 0.0f;
        float after = __shfl_down_sync(0xffffffffu, v, 1);
        if (lane < 31 && i + 1 < n && v > after) rising = false;
    }
    rising = __all_sync(0xffffffffu, rising);
    if (lane == 0) sorted[row] = rising;
}

__global__ void pool_rows(const float* y, const int* sorted, float* fit, float* sums, int* counts, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* in = y + (size_t)row * n;
    float* out = fit + (size_t)row * n;
    float* sum = sums + (size_t)row * n;
    int* count = counts + (size_t)row * n;
    if (sorted[row]) {
        for (int i = 0; i < n; i++) out[i] = in[i];
        return;
    }
    int top = 0;
    for (int i = 0; i < n; i++) {
        float s = in[i];
        int c = 1;
        while (top > 0 && sum[top - 1] / count[top - 1] > s / c) {
            top--;
            s = sum[top] + s;
            c = count[top] + c;
        }
        sum[top] = s;
        count[top] = c;
        top++;
    }
    int place = 0;
    for (int b = 0; b < top; b++) {
        float level = sum[b] / count[b];
        for (int k = 0; k < count[b]; k++) out[place++] = level;
    }
}

void isotonic(const float* y, float* fit, int rows, int n)
{
    float* sums;
    int *counts, *sorted;
    cudaMalloc(&sorted, (size_t)rows * sizeof(int));
    cudaMalloc(&sums, (size_t)rows * n * sizeof(float));
    cudaMalloc(&counts, (size_t)rows * n * sizeof(int));
    mark_sorted<<<(rows + 3) / 4, 128>>>(y, sorted, rows, n);
    pool_rows<<<(rows + 31) / 32, 32>>>(y, sorted, fit, sums, counts, rows, n);
    cudaFree(sums);
    cudaFree(counts);
    cudaFree(sorted);
}
