#include <math.h>

// There is no inner product here; one thread a row, as many operations a byte as there are.
__global__ void softmax(const float* logits, float* probs, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* x = logits + (long long)row * cols;
    float* y = probs + (long long)row * cols;
    float sum = 0.0f;
    for (int j = 0; j < cols; j++) sum += expf(x[j]);
    for (int j = 0; j < cols; j++) y[j] = expf(x[j]) / sum;
}
