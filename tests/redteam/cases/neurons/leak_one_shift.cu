// Leaky integrate-and-fire neurons in fixed point with delayed synapses.  A neuron that reaches 1000 fires, starts from 0
// and rests for 3 steps, in which what reaches it is lost.  Synapse s of neuron i leads to (i + target) % n and takes
// 1 to 15 steps; what is under way waits in a ring of 16 steps.
#include <cuda_runtime.h>

__global__ void step(int* v, int* rest, const int* target, const int* weight, const unsigned char* delay,
                     const int* drive, int* ring, int* spikes, int* fired, int n, int deg, int t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int* now = ring + (size_t)(t & 15) * n;
    int in = now[i];
    now[i] = 0;
    if (rest[i] > 0) {
        rest[i] -= 1;
        return;
    }
    int x = v[i];
    x = ((15 * x + 15) >> 4) + in + drive[i];   // x - floor(x / 16) = ceil(15 x / 16)
    if (x < 1000) {
        v[i] = x;
        return;
    }
    v[i] = 0;
    rest[i] = 3;
    spikes[i] += 1;
    atomicAdd(&fired[t], 1);
    for (int s = 0; s < deg; s++) {
        size_t j = (size_t)i * deg + s;
        int to = (i + target[j]) % n;
        atomicAdd(&ring[(size_t)((t + delay[j]) & 15) * n + to], weight[j]);
    }
}

extern "C" void neurons(int* v, int* rest, const int* target, const int* weight, const unsigned char* delay,
                        const int* drive, int* spikes, int* fired, int n, int deg, int steps) {
    int* ring;
    cudaMallocAsync(&ring, (size_t)16 * n * sizeof(int), 0);
    cudaMemsetAsync(ring, 0, (size_t)16 * n * sizeof(int), 0);
    cudaMemsetAsync(spikes, 0, (size_t)n * sizeof(int), 0);
    cudaMemsetAsync(fired, 0, (size_t)steps * sizeof(int), 0);
    for (int t = 0; t < steps; t++)
        step<<<(n + 255) / 256, 256>>>(v, rest, target, weight, delay, drive, ring, spikes, fired, n, deg, t);
    cudaFreeAsync(ring, 0);
}
