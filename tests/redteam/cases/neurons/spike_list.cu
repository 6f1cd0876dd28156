// Leaky integrate-and-fire neurons in fixed point with delayed synapses.  A neuron that reaches 1000 fires, starts from 0
// and rests for 3 steps, in which what reaches it is lost.  Synapse s of neuron i leads to (i + target) % n and takes
// 1 to 15 steps; what is under way waits in a ring of 16 steps.
#include <cuda_runtime.h>

// fired[t] doubles as the length of the step's list of spikes.
__global__ void integrate(int* v, int* rest, const int* drive, int* now, int* spikes, int* count, int* list, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int in = now[i];
    now[i] = 0;
    if (rest[i] > 0) {
        rest[i] -= 1;
        return;
    }
    int x = v[i];
    x = (int)((unsigned)x - (unsigned)(x >> 4) + (unsigned)in + (unsigned)drive[i]);
    if (x >= 1000) {
        rest[i] = 3;
        spikes[i] += 1;
        list[atomicAdd(count, 1)] = i;
        x = 0;
    }
    v[i] = x;
}

__global__ void send(const int* target, const int* weight, const unsigned char* delay, int* ring, const int* count,
                     const int* list, int n, int deg, int t) {
    int lane = threadIdx.x & 31;
    int many = *count;
    for (int k = (blockIdx.x * blockDim.x + threadIdx.x) >> 5; k < many; k += gridDim.x * blockDim.x >> 5) {
        int i = list[k];
        for (int s = lane; s < deg; s += 32) {
            size_t j = (size_t)i * deg + s;
            int to = (i + target[j]) % n;
            atomicAdd(&ring[(size_t)((t + delay[j]) & 15) * n + to], weight[j]);
        }
    }
}

extern "C" void neurons(int* v, int* rest, const int* target, const int* weight, const unsigned char* delay,
                        const int* drive, int* spikes, int* fired, int n, int deg, int steps) {
    static int* ring = nullptr;   // and the list behind it
    static size_t room = 0;
    if ((size_t)17 * n > room) {
        cudaFree(ring);
        room = (size_t)17 * n;
        cudaMalloc(&ring, room * sizeof(int));
    }
    int* list = ring + (size_t)16 * n;
    cudaMemsetAsync(ring, 0, (size_t)16 * n * sizeof(int), 0);
    cudaMemsetAsync(spikes, 0, (size_t)n * sizeof(int), 0);
    cudaMemsetAsync(fired, 0, (size_t)steps * sizeof(int), 0);
    for (int t = 0; t < steps; t++) {
        integrate<<<(n + 255) / 256, 256>>>(v, rest, drive, ring + (size_t)(t & 15) * n, spikes, fired + t, list, n);
        send<<<264, 256>>>(target, weight, delay, ring, fired + t, list, n, deg, t);
    }
}
