#include <cstdio>
#include <cub/cub.cuh>
#include <math.h>

__global__ void softmax(const float* logits, float* probs, int rows, int cols)
{
    if (threadIdx.x == 0) printf("%d\n", cols);
}
