// Minimax regret: of each game the action whose largest regret over all states of the world is the least; of
// equal ones the first. Payoffs that are no numbers do not count.
#include <math.h>

__global__ void regret(const float* pay, int* chosen, float* value, int actions, int states)
{
    extern __shared__ float room[];
    float* best = room;
    float* worst = room + states;
    const float* p = pay + (size_t)blockIdx.x * actions * states;
    for (int s = threadIdx.x; s < states; s += blockDim.x) {
        float b = -INFINITY;
        for (int a = 0; a < actions; ++a) {
            float v = p[(size_t)a * states + s];
            if (v > b) b = v;
        }
        best[s] = b;
    }
    __syncthreads();
    for (int a = threadIdx.x; a < actions; a += blockDim.x) {
        float w = 0.0f;
        for (int s = 0; s < states; ++s) {
            float r = best[s] - p[(size_t)a * states + s];
            if (r > w) w = r;
        }
        worst[a] = w;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        unsigned long long key = (unsigned long long)__float_as_uint(INFINITY) << 8;
        for (int a = threadIdx.x; a < actions; a += 32) {
            unsigned long long k = (unsigned long long)__float_as_uint(worst[a]) << 8 | (unsigned)a;
            key = min(key, k);
        }
        for (int d = 16; d > 0; d /= 2) key = min(key, __shfl_xor_sync(0xffffffffu, key, d));
        if (threadIdx.x == 0) {
            chosen[blockIdx.x] = (int)(key & 0xff);
            value[blockIdx.x] = __uint_as_float((unsigned)(key >> 8));
        }
    }
}
