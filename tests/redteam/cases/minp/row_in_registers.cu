#include <math.h>
// From what a network says of each word to how likely it is, in place; words that are much less likely than the best one
// (by a factor whose logarithm is `gap`) are never said.
__global__ void minp(float* x, int cols, float gap) {
    // A row is read once and kept in registers, eight words a thread; what is longer is read again.
    __shared__ float part[8], sums[8];
    float* own = x + (size_t)blockIdx.x * cols;
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float kept[8], most = -INFINITY, sum = 0.f;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        int c = t + 256 * k;
        kept[k] = c < cols ? own[c] : -INFINITY;
        most = fmaxf(most, kept[k]);
    }
    for (int c = t + 2048; c < cols; c += 256) most = fmaxf(most, own[c]);
    for (int k = 16; k > 0; k /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, k));
    if (lane == 0) part[warp] = most;
    __syncthreads();
    for (int k = 0; k < 8; ++k) most = fmaxf(most, part[k]);
    float least = most - gap;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        if (t + 256 * k < cols && kept[k] >= least) sum += expf(kept[k] - most);
    for (int c = t + 2048; c < cols; c += 256)
        if (own[c] >= least) sum += expf(own[c] - most);
    for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    sum = 0.f;
    for (int k = 0; k < 8; ++k) sum += sums[k];
#pragma unroll
    for (int k = 0; k < 8; ++k)
        if (t + 256 * k < cols) own[t + 256 * k] = kept[k] >= least ? expf(kept[k] - most) / sum : 0.f;
    for (int c = t + 2048; c < cols; c += 256) own[c] = own[c] >= least ? expf(own[c] - most) / sum : 0.f;
}
