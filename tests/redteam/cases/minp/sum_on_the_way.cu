#include <math.h>
// From what a network says of each word to how likely it is, in place; words that are much less likely than the best one
// (by a factor whose logarithm is `gap`) are never said.
__global__ void minp(float* x, int cols, float gap) {
    // The best word and the sum come from one reading of the row: what was summed up fades when a better one comes.
    __shared__ float tops[8], sums[8];
    float* own = x + (size_t)blockIdx.x * cols;
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float most = -INFINITY, sum = 0.f;
    for (int c = t; c < cols; c += 256) {
        float now = own[c];
        if (now > most) {
            sum = most >= now - gap ? sum * expf(most - now) + 1.f : 1.f;
            most = now;
        } else if (now >= most - gap) {
            sum += expf(now - most);
        }
    }
    for (int k = 16; k > 0; k /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, most, k), more = __shfl_xor_sync(0xffffffffu, sum, k);
        float top = fmaxf(most, other);
        sum = (most >= top - gap ? sum * expf(most - top) : 0.f) + (other >= top - gap ? more * expf(other - top) : 0.f);
        most = top;
    }
    if (lane == 0) tops[warp] = most, sums[warp] = sum;
    __syncthreads();
    most = tops[0];
    for (int k = 1; k < 8; ++k) most = fmaxf(most, tops[k]);
    sum = 0.f;
    for (int k = 0; k < 8; ++k)
        if (tops[k] >= most - gap) sum += sums[k] * expf(tops[k] - most);
    for (int c = t; c < cols; c += 256) own[c] = own[c] >= most - gap ? expf(own[c] - most) / sum : 0.f;
}
