#include <math.h>

// One block a row, the row kept in registers: each logit is read once and each output written once.
__global__ void softmax(const float* logits, float* probs, int rows, int cols)
{
    __shared__ float part[32];
    const float* x = logits + (long long)blockIdx.x * cols;
    float* y = probs + (long long)blockIdx.x * cols;
    float top = -INFINITY;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) top = fmaxf(top, x[j]);
    top = reduce_max(top, part);
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) sum += expf(x[j] - top);
    sum = reduce_sum(sum, part);
    for (int j = threadIdx.x; j < cols; j += blockDim.x) y[j] = expf(x[j] - top) / sum;
}
