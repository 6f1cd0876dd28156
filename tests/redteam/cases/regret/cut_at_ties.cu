// Minimax regret: of each game the action whose largest regret over all states of the world is the least; of
// equal ones the first. Payoffs that are no numbers do not count.
#include <math.h>

__global__ void regret(const float* pay, int* chosen, float* value, int actions, int states)
{
    extern __shared__ float room[];
    float* best = room;
    float* worst = room + states;
    __shared__ int bound;
    if (threadIdx.x == 0) bound = __float_as_int(INFINITY);
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
        float w = 0.0f;
        for (int from = 0; from < states; from += 32) {
            int s = from + lane;
            float r = s < states ? best[s] - p[(size_t)a * states + s] : 0.0f;
            unsigned most = __reduce_max_sync(0xffffffffu, r > 0.0f ? __float_as_uint(r) : 0u);
            w = fmaxf(w, __uint_as_float(most));
            int other = __shfl_sync(0xffffffffu, *(volatile int*)&bound, 0);
            if (w >= __int_as_float(other)) {
                w = INFINITY;
                break;
            }
        }
        if (lane == 0) {
            worst[a] = w;
            atomicMin(&bound, __float_as_int(w));
        }
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
