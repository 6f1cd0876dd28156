#include <cub/block/block_reduce.cuh>
#include <math.h>

// One block a row with CUB's block reduction.
__global__ void softmax(const float* logits, float* probs, int rows, int cols)
{
    using reduction = cub::BlockReduce<float, 128>;
    __shared__ typename reduction::TempStorage room;
    __shared__ float shared_top, shared_sum;
    const float* x = logits + (long long)blockIdx.x * cols;
    float* y = probs + (long long)blockIdx.x * cols;
    float top = -INFINITY;
    for (int j = threadIdx.x; j < cols; j += 128) top = fmaxf(top, x[j]);
    top = reduction(room).Reduce(top, [](float a, float b) { return fmaxf(a, b); });
    if (threadIdx.x == 0) shared_top = top;
    __syncthreads();
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 128) sum += expf(x[j] - shared_top);
    sum = reduction(room).Sum(sum);
    if (threadIdx.x == 0) shared_sum = sum;
    __syncthreads();
    for (int j = threadIdx.x; j < cols; j += 128) y[j] = expf(x[j] - shared_top) / shared_sum;
}
