// Batched upsert: update i writes row value[i] (d columns) to table[slot[i]]. Slots outside 0..m-1 are dropped.
// Where several updates of the batch name the same slot, the last of them (the highest i) stands.
// changed[0] receives the number of table rows that were written.
#include <cuda_runtime.h>

__global__ void clear(int* winner, int m, int* changed)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < m) winner[s] = -1;
    if (s == 0) changed[0] = 0;
}

__global__ void claim(const int* __restrict__ slot, int n, int m, int* winner)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int s = slot[i];
    if (s >= 0 && s < m) atomicMax(winner + s, i);
}

__global__ void apply(const float* __restrict__ value, const int* __restrict__ winner, float* table, int m, int d, int* changed)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)m * d) return;
    const int s = (int)(at / d), c = (int)(at % d);
    const int w = winner[s];
    if (w < 0) return;
    table[at] = value[(size_t)w * d + c];
    if (c == 0) atomicAdd(changed, 1);
}

extern "C" void upsert(const int* slot, const float* value, float* table, int* changed, int n, int m, int d)
{
    static int* winner = nullptr;
    static int room = 0;
    if (m > room) {
        cudaFree(winner);
        cudaMalloc(&winner, (size_t)m * sizeof(int));
        room = m;
    }
    // One graph launch in place of three: the calls are captured anew each time, and the executable graph is
    // given the new parameters, or made again where it cannot take them.
    static cudaStream_t scribe = nullptr;
    static cudaGraphExec_t ready = nullptr;
    if (!scribe) cudaStreamCreateWithFlags(&scribe, cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaStreamBeginCapture(scribe, cudaStreamCaptureModeThreadLocal);
    clear<<<(m + 255) / 256, 256, 0, scribe>>>(winner, m, changed);
    claim<<<(n + 255) / 256, 256, 0, scribe>>>(slot, n, m, winner);
    apply<<<(unsigned)(((long long)m * d + 255) / 256), 256, 0, scribe>>>(value, winner, table, m, d, changed);
    cudaStreamEndCapture(scribe, &graph);
    cudaGraphExecUpdateResultInfo info;
    if (ready && cudaGraphExecUpdate(ready, graph, &info) != cudaSuccess) {
        cudaGetLastError();
        cudaGraphExecDestroy(ready);
        ready = nullptr;
    }
    if (!ready) cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphDestroy(graph);
    cudaGraphLaunch(ready, 0);
}
