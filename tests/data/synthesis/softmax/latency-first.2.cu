#include <math.h>

// One warp a row and the maximum found while the sum is formed: two passes, no barrier.
__global__ void softmax(const float* logits, float* probs, int rows, int cols)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* x = logits + (long long)row * cols;
    float* y = probs + (long long)row * cols;

    float top = -INFINITY, sum = 0.0f;
    for (int j = lane; j < cols; j += 32) {
        if (x[j] == -INFINITY) continue;  // adds nothing, and -inf less -inf would be a NaN
        float higher = fmaxf(top, x[j]);
        sum = sum * expf(top - higher) + expf(x[j] - higher);
        top = higher;
    }
    float all = top;
    for (int offset = 16; offset > 0; offset /= 2)
        all = fmaxf(all, __shfl_xor_sync(0xffffffff, all, offset));
    if (sum != 0.0f) sum *= expf(top - all);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    for (int j = lane; j < cols; j += 32) y[j] = expf(x[j] - all) / sum;
}
