// Row-wise softmax of a [rows][cols] matrix of logits. One thread does one row:
// find the maximum, sum the exponentials, divide.
#include <math.h>

__global__ void softmax(const float* logits, float* probs, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    const float* x = logits + row * cols;
    float* y = probs + row * cols;

    // subtract the maximum for numerical stability
    float maxval = -INFINITY;
    for (int j = 0; j < cols; j++) {
        if (x[j] > maxval) {
            maxval = x[j];
        }
    }

    float sum = 0.0f;
    for (int j = 0; j < cols; j++) {
        y[j] = expf(x[j] - maxval);
        sum += y[j];
    }

    for (int j = 0; j < cols; j++) {
        y[j] = y[j] / sum;
    }
}
