// A warp per synapse: each lane a stretch of the steps; traces at the starts of the stretches by a scan.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void synapse(const uint8_t* pre, const uint8_t* post, float* potentiation, float* depression,
                        int synapses, int steps, float decay)
{
    int s = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (s >= synapses) return;
    decay = fminf(fmaxf(decay, 0.0f), 0.99f);
    const uint8_t* a = pre + (size_t)s * steps;
    const uint8_t* b = post + (size_t)s * steps;
    int len = (steps + 31) / 32;
    int t0 = lane * len < steps ? lane * len : steps;
    int t1 = t0 + len < steps ? t0 + len : steps;
    float ta = 0.0f, tb = 0.0f, factor = 1.0f;
    for (int t = t0; t < t1; ++t) {
        ta = ta * decay + (float)a[t];
        tb = tb * decay + (float)b[t];
        factor *= decay;
    }
    for (int d = 1; d < 32; d <<= 1) {           // (factor, trace) pairs compose
        float fa = __shfl_up_sync(0xffffffffu, ta, d);
        float fb = __shfl_up_sync(0xffffffffu, tb, d);
        float ff = __shfl_up_sync(0xffffffffu, factor, d);
        if (lane >= d) {
            ta += factor * fa;
            tb += factor * fb;
            factor *= ff;
        }
    }
    ta = __shfl_up_sync(0xffffffffu, ta, 1);
    tb = __shfl_up_sync(0xffffffffu, tb, 1);
    if (lane == 0) ta = tb = 0.0f;
    double up = 0.0, down = 0.0;
    for (int t = t0; t < t1; ++t) {
        ta *= decay;
        tb *= decay;
        float x = (float)a[t], y = (float)b[t];
        up += (double)(y * ta);
        down += (double)(x * tb);
        ta += x;
        tb += y;
    }
    for (int d = 16; d > 0; d >>= 1) {
        up += __shfl_xor_sync(0xffffffffu, up, d);
        down += __shfl_xor_sync(0xffffffffu, down, d);
    }
    if (lane == 0) {
        potentiation[s] = (float)up;
        depression[s] = (float)down;
    }
}
