// Four steps a load where the rows are aligned; quiet words only decay the traces.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void synapse(const uint8_t* pre, const uint8_t* post, float* potentiation, float* depression,
                        int synapses, int steps, float decay)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= synapses) return;
    decay = fminf(fmaxf(decay, 0.0f), 0.99f);
    const uint8_t* a = pre + (size_t)s * steps;
    const uint8_t* b = post + (size_t)s * steps;
    float d2 = decay * decay, d4 = d2 * d2;
    float ta = 0.0f, tb = 0.0f;
    double up = 0.0, down = 0.0;
    int t = 0;
    if ((((uintptr_t)a | (uintptr_t)b) & 3) == 0) {
        for (; t + 4 <= steps; t += 4) {
            unsigned wa = *(const unsigned*)(a + t);
            unsigned wb = *(const unsigned*)(b + t);
            if ((wa | wb) == 0) {
                ta *= d4;
                tb *= d4;
                continue;
            }
            for (int k = 0; k < 32; k += 8) {
                ta *= decay;
                tb *= decay;
                float x = (float)(wa >> k & 255u), y = (float)(wb >> k & 255u);
                up += (double)(y * ta);
                down += (double)(x * tb);
                ta += x;
                tb += y;
            }
        }
    }
    for (; t < steps; ++t) {
        ta *= decay;
        tb *= decay;
        float x = (float)a[t], y = (float)b[t];
        up += (double)(y * ta);
        down += (double)(x * tb);
        ta += x;
        tb += y;
    }
    potentiation[s] = (float)up;
    depression[s] = (float)down;
}
