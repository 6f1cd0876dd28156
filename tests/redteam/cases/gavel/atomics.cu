// Sealed-bid second-price auctions; one block per lot, three short sweeps over a row that stays in the cache:
// the highest bid, then whose it is, then the highest bid of the others.
// Floats are maximised in shared memory with integer atomics: negative ones are ordered the other way round.
#include <math_constants.h>

__device__ __forceinline__ void raise(float* to, float v)
{
    if (v < 0.0f) atomicMin((unsigned*)to, __float_as_uint(v));
    else atomicMax((int*)to, __float_as_int(v));
}

extern "C" __global__ void gavel(const float* __restrict__ bid, const float* __restrict__ reserve,
                                 int* __restrict__ winner, float* __restrict__ price, int lots, int bidders)
{
    __shared__ float best, next;
    __shared__ int who;
    int lot = blockIdx.x, tid = threadIdx.x;
    const float* row = bid + (size_t)lot * bidders;

    if (tid == 0) { best = -CUDART_INF_F; next = -CUDART_INF_F; who = INT_MAX; }
    __syncthreads();
    float mine = -CUDART_INF_F;
    for (int j = tid; j < bidders; j += blockDim.x) mine = fmaxf(mine, row[j]);
    raise(&best, mine);
    __syncthreads();
    for (int j = tid; j < bidders; j += blockDim.x)
        if (row[j] == best) { atomicMin(&who, j); break; }
    __syncthreads();
    mine = -CUDART_INF_F;
    for (int j = tid; j < bidders; j += blockDim.x)
        if (j != who) mine = fmaxf(mine, row[j]);
    raise(&next, mine);
    __syncthreads();
    if (tid == 0) {
        float least = reserve[lot];
        bool sold = who != INT_MAX && best >= least;
        winner[lot] = sold ? who : -1;
        price[lot] = sold ? (next > least ? next : least) : 0.0f;
    }
}
