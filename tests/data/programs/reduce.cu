// Sum by one atomic a thread: the order, and so the last bits, change from run to run.
// VARIANT 1: shuffles first; 2: leaves out one warp of each block.
#include <cstdio>
#include <cstdlib>
#include <vector>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void total(const float *x, float *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
#if VARIANT == 1
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, v);
#elif VARIANT == 2
  if (threadIdx.x >= 32) atomicAdd(sum, v);
#else
  atomicAdd(sum, v);
#endif
}

int main() {
  const int n = 1 << 20;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = (i * 37 % 1000) / 999.0f;
  float *dx, *ds, s = 0;
  cudaMalloc(&dx, n * 4);
  cudaMalloc(&ds, 4);
  cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemset(ds, 0, 4);
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventRecord(a);
  total<<<n / 256, 256>>>(dx, ds, n);
  cudaEventRecord(b);
  cudaEventSynchronize(b);
  float ms;
  cudaEventElapsedTime(&ms, a, b);
  cudaMemcpy(&s, ds, 4, cudaMemcpyDeviceToHost);
  printf("sum %f\nkernel time %f ms\n", s, ms);
  return 0;
}
