// Minimax regret: of each game the action whose largest regret over all states of the world is the least; of
// equal ones the first. Payoffs that are no numbers do not count.
#include <math.h>

__device__ unsigned ordered(float v)
{
    unsigned b = __float_as_uint(v);
    return b & 0x80000000u ? ~b : b | 0x80000000u;
}

__device__ float unordered(unsigned k)
{
    return __uint_as_float(k & 0x80000000u ? k & 0x7fffffffu : ~k);
}

__global__ void regret(const float* pay, int* chosen, float* value, int actions, int states)
{
    extern __shared__ float room[];
    float* best = room;
    float* worst = room + states;
    const float* p = pay + (size_t)blockIdx.x * actions * states;
    unsigned* key = (unsigned*)best;
    for (int s = threadIdx.x; s < states; s += blockDim.x) key[s] = ordered(-INFINITY);
    __syncthreads();
    for (int i = threadIdx.x; i < actions * states; i += blockDim.x) atomicMax(&key[i % states], ordered(p[i]));
    __syncthreads();
    for (int s = threadIdx.x; s < states; s += blockDim.x) best[s] = unordered(key[s]);
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
    if (threadIdx.x == 0) {
        float least = INFINITY;
        int at = 0;
        for (int a = 0; a < actions; ++a) {
            if (worst[a] < least) {
                least = worst[a];
                at = a;
            }
        }
        chosen[blockIdx.x] = at;
        value[blockIdx.x] = least;
    }
}
