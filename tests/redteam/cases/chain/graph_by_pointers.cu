#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thread>
__global__ void first(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 0.5f + 1.f;
}
__global__ void second(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = y[i];
    for (int k = 0; k < 40; ++k) v = v * 0.99f + 0.01f;
    y[i] = v;
}
extern "C" void chain(const float* x, float* y, int n) {
    static cudaGraphExec_t kept;
    static const float* kept_x;
    static float* kept_y;
    static int kept_n;
    if (!kept || kept_x != x || kept_y != y || kept_n != n) {
        if (kept) cudaGraphExecDestroy(kept);
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        first<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
        second<<<(n + 255) / 256, 256, 0, stream>>>(y, n);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&kept, graph, 0);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
        kept_x = x, kept_y = y, kept_n = n;
    }
    cudaGraphLaunch(kept, 0);
}
