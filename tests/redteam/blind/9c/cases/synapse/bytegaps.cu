// Quiet steps are only counted (in a byte, as the table index); a table of powers brings the traces up to date.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void synapse(const uint8_t* pre, const uint8_t* post, float* potentiation, float* depression,
                        int synapses, int steps, float decay)
{
    __shared__ float power[256];
    decay = fminf(fmaxf(decay, 0.0f), 0.99f);
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
        double p = 1.0, q = (double)decay;
        for (int e = k; e > 0; e >>= 1, q *= q)
            if (e & 1) p *= q;
        power[k] = (float)p;
    }
    __syncthreads();
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= synapses) return;
    const uint8_t* a = pre + (size_t)s * steps;
    const uint8_t* b = post + (size_t)s * steps;
    float ta = 0.0f, tb = 0.0f;
    double up = 0.0, down = 0.0;
    uint8_t gap = 0;                              // steps since the traces were brought up to date
    for (int t = 0; t < steps; ++t) {
        ++gap;
        uint8_t na = a[t], nb = b[t];
        if ((na | nb) == 0) continue;
        float f = power[gap];
        ta *= f;
        tb *= f;
        gap = 0;
        up += (double)((float)nb * ta);
        down += (double)((float)na * tb);
        ta += (float)na;
        tb += (float)nb;
    }
    potentiation[s] = (float)up;
    depression[s] = (float)down;
}
