// Scores of seers who gave a chance to each of many events. Per seer: the mean logarithm of the chance given to what
// came about (held between 1e-7 and 1; a chance that is not a number counts as 1e-7), the mean squared miss, and for
// each of twenty shelves of stated chance how many events were put there and how many of those came about.
#include <cuda_runtime.h>
#include <math.h>
#include <stddef.h>

#define SHELVES 20

static __device__ __forceinline__ float given(float p, int came)
{
    float q = came ? p : 1.0f - p;
    q = q > 1e-7f ? q : 1e-7f;
    return q < 1.0f ? q : 1.0f;
}

static __device__ __forceinline__ int shelf_of(float p)
{
    if (!(p > 0.0f)) return 0;
    if (p >= 1.0f) return SHELVES - 1;
    return min(SHELVES - 1, (int)(p * 20.0f));
}

// A warp per seer. Powers of two are counted apart, so that only significands are multiplied; a logarithm is
// taken of each 1024 of them.
__global__ void oracle_kernel(const float* chance, const int* came, double* score, double* miss, int* put, int* hit,
                              int seers, int events)
{
    __shared__ int s_put[8][SHELVES], s_hit[8][SHELVES];
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    int seer = blockIdx.x * 8 + w;
    if (lane < SHELVES) s_put[w][lane] = s_hit[w][lane] = 0;
    __syncwarp();
    if (seer >= seers) return;
    const float* mine = chance + (size_t)seer * events;
    double logs = 0.0, misses = 0.0, product = 1.0;
    int since = 0;
    int powers = 0;
    for (int e = lane; e < events; e += 32) {
        float p = mine[e];
        int c = came[e];
        unsigned bits = __float_as_uint(given(p, c));      // never zero nor subnormal
        powers += (int)(bits >> 23) - 127;
        product *= (double)__uint_as_float((bits & 0x7fffffu) | 0x3f800000u);
        if (++since == 1024) {
            logs += log(product);
            product = 1.0;
            since = 0;
        }
        double d = (double)p - c;
        misses += d * d;
        int b = shelf_of(p);
        atomicAdd(&s_put[w][b], 1);
        if (c) atomicAdd(&s_hit[w][b], 1);
    }
    logs += log(product) + powers * 0.69314718055994530942;
    __syncwarp();
    for (int half = 16; half > 0; half >>= 1) {
        logs += __shfl_xor_sync(0xffffffffu, logs, half);
        misses += __shfl_xor_sync(0xffffffffu, misses, half);
    }
    if (lane == 0) {
        score[seer] = logs / events;
        miss[seer] = misses / events;
    }
    if (lane < SHELVES) {
        put[(size_t)seer * SHELVES + lane] = s_put[w][lane];
        hit[(size_t)seer * SHELVES + lane] = s_hit[w][lane];
    }
}

extern "C" void oracle(const float* chance, const int* came, double* score, double* miss, int* put, int* hit,
                       int seers, int events)
{
    oracle_kernel<<<(seers + 7) / 8, 256>>>(chance, came, score, miss, put, hit, seers, events);
}
