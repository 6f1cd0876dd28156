// A thread per synapse and direction pair: only lags whose weight is above a millionth are added up.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void synapse(const uint8_t* pre, const uint8_t* post, float* potentiation, float* depression,
                        int synapses, int steps, float decay)
{
    __shared__ float weight[2048];
    __shared__ int reach;
    decay = fminf(fmaxf(decay, 0.0f), 0.99f);
    if (threadIdx.x == 0) {
        double p = 1.0;
        int k = 0;
        while (k < 2047 && p > 1e-6) {
            weight[k++] = (float)p;
            p *= (double)decay;
        }
        reach = k;                               // weight[1] .. weight[reach - 1] count
    }
    __syncthreads();
    int s = blockIdx.x;
    if (s >= synapses) return;
    __shared__ double total[2];
    if (threadIdx.x < 2) total[threadIdx.x] = 0.0;
    __syncthreads();
    const uint8_t* a = pre + (size_t)s * steps;
    const uint8_t* b = post + (size_t)s * steps;
    double up = 0.0, down = 0.0;
    for (int t = threadIdx.x; t < steps; t += blockDim.x) {
        if ((a[t] | b[t]) == 0) continue;
        float ta = 0.0f, tb = 0.0f;
        for (int k = 1; k < reach && k <= t; ++k) {
            ta += weight[k] * (float)a[t - k];
            tb += weight[k] * (float)b[t - k];
        }
        up += (double)((float)b[t] * ta);
        down += (double)((float)a[t] * tb);
    }
    for (int d = 16; d > 0; d >>= 1) {
        up += __shfl_xor_sync(0xffffffffu, up, d);
        down += __shfl_xor_sync(0xffffffffu, down, d);
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(&total[0], up);
        atomicAdd(&total[1], down);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        potentiation[s] = (float)total[0];
        depression[s] = (float)total[1];
    }
}
