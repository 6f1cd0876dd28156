// A warp per synapse: decay^(t-u) = decay^t / decay^u in double, so prefix sums of the scaled spikes do.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void synapse(const uint8_t* pre, const uint8_t* post, float* potentiation, float* depression,
                        int synapses, int steps, float decay)
{
    int s = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (s >= synapses) return;
    double q = (double)fminf(fmaxf(decay, 0.0f), 0.99f);
    const uint8_t* a = pre + (size_t)s * steps;
    const uint8_t* b = post + (size_t)s * steps;
    double q32 = q;
    for (int k = 0; k < 5; ++k) q32 *= q32;
    double w = 1.0;
    for (int k = 0; k < lane; ++k) w *= q;
    double before_a = 0.0, before_b = 0.0, up = 0.0, down = 0.0;
    if (q > 0.0) {
        for (int t0 = 0; t0 < steps; t0 += 32, w *= q32) {
            int t = t0 + lane;
            double x = t < steps ? (double)a[t] : 0.0;
            double y = t < steps ? (double)b[t] : 0.0;
            double sa = x / w, sb = y / w;
            for (int d = 1; d < 32; d <<= 1) {
                double fa = __shfl_up_sync(0xffffffffu, sa, d);
                double fb = __shfl_up_sync(0xffffffffu, sb, d);
                if (lane >= d) { sa += fa; sb += fb; }
            }
            double ea = __shfl_up_sync(0xffffffffu, sa, 1), eb = __shfl_up_sync(0xffffffffu, sb, 1);
            if (lane == 0) ea = eb = 0.0;
            up += y * w * (before_a + ea);
            down += x * w * (before_b + eb);
            before_a += __shfl_sync(0xffffffffu, sa, 31);
            before_b += __shfl_sync(0xffffffffu, sb, 31);
        }
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
