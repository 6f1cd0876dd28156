// Root mean square normalisation of each row, with a weight a column (Zhang and Sennrich, 2019).
#include "rms_norm.h"

__global__ void rms_norm(const float *x, const float *weight, float *y, int rows, int dim,
                         float eps)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    float sum = 0.0f;
    for (int i = 0; i < dim; i++) {
        float v = x[row * dim + i];
        sum += v * v;
    }
    float scale = rsqrtf(sum / dim + eps);
    for (int i = 0; i < dim; i++) {
        y[row * dim + i] = x[row * dim + i] * scale * weight[i];
    }
}

void launch_rms_norm(const float *x, const float *weight, float *y, int rows, int dim, float eps,
                     cudaStream_t stream)
{
    rms_norm<<<(rows + 127) / 128, 128, 0, stream>>>(x, weight, y, rows, dim, eps);
}
