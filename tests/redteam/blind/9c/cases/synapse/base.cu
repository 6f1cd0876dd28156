// Spike-timing dependent plasticity: for every synapse the potentiation (each post spike counts the decayed
// trace of the earlier pre spikes) and the depression (each pre spike counts that of the earlier post spikes).
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

    float trace_a = 0.0f, trace_b = 0.0f;      // decayed spike counts of the earlier steps
    double up = 0.0, down = 0.0;
    for (int t = 0; t < steps; ++t) {
        trace_a *= decay;
        trace_b *= decay;
        float spikes_a = (float)a[t];
        float spikes_b = (float)b[t];
        up += (double)(spikes_b * trace_a);
        down += (double)(spikes_a * trace_b);
        trace_a += spikes_a;
        trace_b += spikes_b;
    }
    potentiation[s] = (float)up;
    depression[s] = (float)down;
}
