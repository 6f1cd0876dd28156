// Launches from a captured graph, with memory from the stream-ordered allocator.
// VARIANT 1: the same; 2: a wrong constant.
#include <cstdio>
#ifndef VARIANT
#define VARIANT 0
#endif
__global__ void relax(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * (VARIANT == 2 ? 0.91f : 0.9f) + 1.0f;
}
int main() {
  const int n = 1 << 20;
  float *x, host[4];
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMallocAsync((void **)&x, n * sizeof(float), s);
  cudaMemsetAsync(x, 0, n * sizeof(float), s);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < 8; ++i) relax<<<n / 256, 256, 0, s>>>(x, n);
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 20; ++i) cudaGraphLaunch(exec, s);
  cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
  printf("%f\n", host[3]);
  cudaFreeAsync(x, s);
  cudaStreamSynchronize(s);
}
