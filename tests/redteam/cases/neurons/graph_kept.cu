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
        atomicAdd(&ring[(size_t)((t + delay[j]) & 15) * n + to], weight[j]);
    }
}

extern "C" void neurons(int* v, int* rest, const int* target, const int* weight, const unsigned char* delay,
                        const int* drive, int* spikes, int* fired, int n, int deg, int steps) {
    static cudaStream_t own = nullptr;
    static cudaGraphExec_t exec = nullptr;
    static int *ring = nullptr, *v0 = nullptr, *rest0 = nullptr, *spikes0 = nullptr, *fired0 = nullptr;
    static int n0 = 0, deg0 = 0, steps0 = 0;
    if (own == nullptr) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    // rebuilt whenever the shape or the state that it writes has moved
    if (v != v0 || rest != rest0 || spikes != spikes0 || fired != fired0 || n != n0 || deg != deg0 || steps != steps0) {
        if (exec) {
            cudaStreamSynchronize(0);
            cudaGraphExecDestroy(exec);
        }
        if (n != n0) {
            cudaFree(ring);
            cudaMalloc(&ring, (size_t)16 * n * sizeof(int));
        }
        cudaGraph_t graph;
        cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal);
        for (int t = 0; t < steps; t++)
            step<<<(n + 255) / 256, 256, 0, own>>>(v, rest, target, weight, delay, drive, ring, spikes, fired, n, deg, t);
        cudaStreamEndCapture(own, &graph);
        cudaGraphInstantiate(&exec, graph, 0);
        cudaGraphDestroy(graph);
        v0 = v, rest0 = rest, spikes0 = spikes, fired0 = fired;
        n0 = n, deg0 = deg, steps0 = steps;
    }
    cudaMemsetAsync(ring, 0, (size_t)16 * n * sizeof(int), 0);
    cudaMemsetAsync(spikes, 0, (size_t)n * sizeof(int), 0);
    cudaMemsetAsync(fired, 0, (size_t)steps * sizeof(int), 0);
    cudaGraphLaunch(exec, 0);
}
