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

__global__ void oracle_kernel(const float* chance, const int* came, double* score, double* miss, int* put, int* hit,
                              int events)
{
    __shared__ int s_put[SHELVES], s_hit[SHELVES];
    __shared__ double s_log[256], s_miss[256];
    int t = threadIdx.x;
    if (t < SHELVES) s_put[t] = s_hit[t] = 0;
    __syncthreads();
    const float* mine = chance + (size_t)blockIdx.x * events;
    double logs = 0.0, misses = 0.0;
    for (int e = t; e < events; e += 256) {
        float p = mine[e];
        int c = came[e];
        logs += log((double)given(p, c));
        double d = (double)p - c;
        misses += d * d;
        int b = shelf_of(p);
        atomicAdd(&s_put[b], 1);
        if (c) atomicAdd(&s_hit[b], 1);
    }
    s_log[t] = logs;
    s_miss[t] = misses;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) {
            s_log[t] += s_log[t + half];
            s_miss[t] += s_miss[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        score[blockIdx.x] = s_log[0] / events;
        miss[blockIdx.x] = s_miss[0] / events;
    }
    if (t < SHELVES) {
        put[(size_t)blockIdx.x * SHELVES + t] = s_put[t];
        hit[(size_t)blockIdx.x * SHELVES + t] = s_hit[t];
    }
}

// both counts of a shelf in one word, which holds up to 65535 events
__global__ void packed_kernel(const float* chance, const int* came, double* score, double* miss, int* put, int* hit,
                              int events)
{
    __shared__ unsigned s_both[SHELVES];
    __shared__ double s_log[256], s_miss[256];
    int t = threadIdx.x;
    if (t < SHELVES) s_both[t] = 0;
    __syncthreads();
    const float* mine = chance + (size_t)blockIdx.x * events;
    double logs = 0.0, misses = 0.0;
    for (int e = t; e < events; e += 256) {
        float p = mine[e];
        int c = came[e];
        logs += log((double)given(p, c));
        double d = (double)p - c;
        misses += d * d;
        int b = shelf_of(p);
        atomicAdd(&s_both[b], c ? 0x10001u : 1u);
    }
    s_log[t] = logs;
    s_miss[t] = misses;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) {
            s_log[t] += s_log[t + half];
            s_miss[t] += s_miss[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        score[blockIdx.x] = s_log[0] / events;
        miss[blockIdx.x] = s_miss[0] / events;
    }
    if (t < SHELVES) {
        put[(size_t)blockIdx.x * SHELVES + t] = (int)(s_both[t] & 0xffffu);
        hit[(size_t)blockIdx.x * SHELVES + t] = (int)(s_both[t] >> 16);
    }
}

extern "C" void oracle(const float* chance, const int* came, double* score, double* miss, int* put, int* hit,
                       int seers, int events)
{
    if (events <= 65535) {
        packed_kernel<<<seers, 256>>>(chance, came, score, miss, put, hit, events);
        return;
    }
    oracle_kernel<<<seers, 256>>>(chance, came, score, miss, put, hit, events);
}
