// Leaky integrate-and-fire neurons in fixed point with delayed synapses.  A neuron that reaches 1000 fires, starts from 0
// and rests for 3 steps, in which what reaches it is lost.  Synapse s of neuron i leads to (i + target) % n and takes
// 1 to 15 steps; what is under way waits in a ring of 16 steps.
#include <cuda_runtime.h>

// x - (x >> 4) = x + ~(x >> 4) + 1 = x + (~x >> 4) + 1
__device__ bool advance(int* v, int* rest, const int* drive, int* now, int i) {
    int in = now[i];
    now[i] = 0;
    int r = rest[i];
    if (r > 0) {
        rest[i] = r - 1;
        return false;
    }
    int x = v[i];
    x = (int)((unsigned)x + (unsigned)(~x >> 4) + 1u + (unsigned)in + (unsigned)drive[i]);
    bool fires = x >= 1000;
    v[i] = fires ? 0 : x;
    if (fires) rest[i] = 3;
    return fires;
}

__global__ void step(int* v, int* rest, const int* target, const int* weight, const unsigned char* delay,
                     const int* drive, int* ring, int* spikes, int* fired, int n, int deg, int t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool fires = i < n && advance(v, rest, drive, ring + (size_t)(t & 15) * n, i);
    if (fires) spikes[i] += 1;
    unsigned who = __ballot_sync(0xffffffffu, fires);
    int lane = threadIdx.x & 31;
    if (lane == 0 && who) atomicAdd(&fired[t], __popc(who));
    // the whole warp sends each of its spikes
    for (; who; who &= who - 1) {
        int from = i - lane + __ffs(who) - 1;
        for (int s = lane; s < deg; s += 32) {
            size_t j = (size_t)from * deg + s;
            int to = (from + target[j]) % n;
            atomicAdd(&ring[(size_t)((t + delay[j]) & 15) * n + to], weight[j]);
        }
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
