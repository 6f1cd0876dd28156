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

__global__ void pool_in_shared(const float* y, float* fit, int rows, int n)
{
    extern __shared__ float stack[];
    __shared__ int blocks;
    float* sum = stack;
    int* end = (int*)(stack + n);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* in = y + (size_t)row * n;
        float* out = fit + (size_t)row * n;
        if (threadIdx.x == 0) {
            int top = 0;
            for (int i = 0; i < n; i++) {
                float s = in[i];
                int c = 1;
                while (top > 0) {
                    int held = end[top - 1] - (top > 1 ? end[top - 2] : 0);
                    if (!(sum[top - 1] / held > s / c)) break;
                    top--;
                    s = sum[top] + s;
                    c = held + c;
                }
                sum[top] = s;
                end[top] = i + 1;
                top++;
            }
            blocks = top;
        }
        __syncthreads();
        for (int b = warp; b < blocks; b += 4) {
            int from = b > 0 ? end[b - 1] : 0;
            float level = sum[b] / (end[b] - from);
            for (int k = from + lane; k < end[b]; k += 32) out[k] = level;
        }
        __syncthreads();
    }
}

void isotonic(const float* y, float* fit, int rows, int n)
{
    size_t bytes = (size_t)n * (sizeof(float) + sizeof(int));
    if (bytes <= 48000) {
        pool_in_shared<<<rows < 528 ? rows : 528, 128, bytes>>>(y, fit, rows, n);
        return;
    }
    float* sums;
    int* counts;
    cudaMalloc(&sums, (size_t)rows * n * sizeof(float));
    cudaMalloc(&counts, (size_t)rows * n * sizeof(int));
    pool_rows<<<(rows + 31) / 32, 32>>>(y, fit, sums, counts, rows, n);
    cudaFree(sums);
    cudaFree(counts);
}
