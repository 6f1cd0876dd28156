// Mean of the samples of every cell and their number.
#include <cuda_runtime.h>

__global__ void gather(const unsigned* cell, const float* value, float* sum, int* count, int n, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned c = cell[i] % (unsigned)m;
    atomicAdd(&sum[c], value[i]);
    atomicAdd(&count[c], 1);
}

__global__ void finish(float* mean, const int* count, int m)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= m) return;
    const int k = count[c];
    mean[c] = k ? mean[c] / (float)k : 0.0f;
}

static cudaStream_t lane = nullptr;
static cudaGraphExec_t ready = nullptr;

extern "C" void voxelmean(const unsigned* cell, const float* value, float* mean, int* count, int n, int m)
{
    if (n <= 0 || m <= 0) return;
    if (!lane) cudaStreamCreateWithFlags(&lane, cudaStreamNonBlocking);
    cudaStreamBeginCapture(lane, cudaStreamCaptureModeThreadLocal);
    cudaMemsetAsync(mean, 0, (size_t)m * sizeof(float), lane);
    cudaMemsetAsync(count, 0, (size_t)m * sizeof(int), lane);
    gather<<<(n + 255) / 256, 256, 0, lane>>>(cell, value, mean, count, n, m);
    finish<<<(m + 255) / 256, 256, 0, lane>>>(mean, count, m);
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(lane, &graph);
    cudaGraphExecUpdateResultInfo info;
    if (ready && cudaGraphExecUpdate(ready, graph, &info) != cudaSuccess) {
        cudaGetLastError();
        cudaDeviceSynchronize();
        cudaGraphExecDestroy(ready);
        ready = nullptr;
    }
    if (!ready) cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphDestroy(graph);
    cudaGraphLaunch(ready, 0);
}
