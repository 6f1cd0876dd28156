#include <math.h>
// From what a network says of each word to how likely it is, in place; words that are much less likely than the best one
// (by a factor whose logarithm is `gap`) are never said.
__global__ void minp(float* x, int cols, float gap) {
    __shared__ float part[128];
    float* own = x + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    float most = -INFINITY, sum = 0.f;
    for (int c = t; c < cols; c += 128) most = fmaxf(most, own[c]);
    part[t] = most;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (t < k) part[t] = fmaxf(part[t], part[t + k]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    for (int c = t; c < cols; c += 128)
        if (own[c] >= most - gap) sum += expf(own[c] - most);
    part[t] = sum;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (t < k) part[t] += part[t + k];
        __syncthreads();
    }
    for (int c = t; c < cols; c += 128) own[c] = own[c] >= most - gap ? expf(own[c] - most) / part[0] : 0.f;
}
