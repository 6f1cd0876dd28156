// Leaky integrate-and-fire neurons in fixed point with delayed synapses.  A neuron that reaches 1000 fires, starts from 0
// and rests for 3 steps, in which what reaches it is lost.  Synapse s of neuron i leads to (i + target) % n and takes
// 1 to 15 steps; what is under way waits in a ring of 16 steps.
#include <cuda_runtime.h>

// Neighbours 2k and 2k+1 share a word of the ring, 16 bits each: half the traffic of zeroing and reading it.  A negative
// weight of the lower borrows from the upper half, which reading pays back.
__global__ void step(int* v, int* rest, const int* target, const int* weight, const unsigned char* delay,
                     const int* drive, unsigned* ring, int* spikes, int* fired, int n, int deg, int t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int words = (n + 1) / 2;
    unsigned* now = ring + (size_t)(t & 15) * words;
    unsigned word = i < n ? now[i >> 1] : 0;
    __syncwarp();
    if (i >= n) return;
    if ((i & 1) == 0) now[i >> 1] = 0;
    int low = (short)(word & 0xffff);
    int in = i & 1 ? (short)((word - (unsigned)low) >> 16) : low;
    if (rest[i] > 0) {
        rest[i] -= 1;
        return;
    }
    int x = v[i];
    x = (int)((unsigned)x - (unsigned)(x >> 4) + (unsigned)in + (unsigned)drive[i]);
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
        atomicAdd(&ring[(size_t)((t + delay[j]) & 15) * words + (to >> 1)], (unsigned)weight[j] << (to & 1) * 16);
    }
}

extern "C" void neurons(int* v, int* rest, const int* target, const int* weight, const unsigned char* delay,
                        const int* drive, int* spikes, int* fired, int n, int deg, int steps) {
    size_t words = (n + 1) / 2;
    unsigned* ring;
    cudaMallocAsync(&ring, 16 * words * sizeof(unsigned), 0);
    cudaMemsetAsync(ring, 0, 16 * words * sizeof(unsigned), 0);
    cudaMemsetAsync(spikes, 0, (size_t)n * sizeof(int), 0);
    cudaMemsetAsync(fired, 0, (size_t)steps * sizeof(int), 0);
    for (int t = 0; t < steps; t++)
        step<<<(n + 255) / 256, 256>>>(v, rest, target, weight, delay, drive, ring, spikes, fired, n, deg, t);
    cudaFreeAsync(ring, 0);
}
