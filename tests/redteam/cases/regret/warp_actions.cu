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
    int lane = threadIdx.x & 31;
    for (int a = threadIdx.x / 32; a < actions; a += blockDim.x / 32) {
        unsigned w = 0;
        for (int s = lane; s < states; s += 32) {
            float r = best[s] - p[(size_t)a * states + s];
            if (r > 0.0f) w = max(w, __float_as_uint(r));
        }
        w = __reduce_max_sync(0xffffffffu, w);
        if (lane == 0) worst[a] = __uint_as_float(w);
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
