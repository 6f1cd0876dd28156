#include <math.h>

__device__ float reduce(float value, float* part, bool largest)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_xor_sync(0xffffffff, value, offset);
        value = largest ? fmaxf(value, other) : value + other;
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    float all = part[0];
    for (int w = 1; w < blockDim.x / 32; w++) all = largest ? fmaxf(all, part[w]) : all + part[w];
    __syncthreads();
    return all;
}

// One block a row: the second and third pass over a row find it in the caches.
__global__ void softmax(const float* logits, float* probs, int rows, int cols)
{
    __shared__ float part[32];
    const float* x = logits + (long long)blockIdx.x * cols;
    float* y = probs + (long long)blockIdx.x * cols;
    float top = -INFINITY;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) top = fmaxf(top, x[j]);
    top = reduce(top, part, true);
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) sum += expf(x[j] - top);
    sum = reduce(sum, part, false);
    for (int j = threadIdx.x; j < cols; j += blockDim.x) y[j] = expf(x[j] - top) / sum;
}
