// A cooperative launch that waits across the grid, and one through cudaLaunchKernelEx with clusters.
// VARIANT 2: forgets to wait.
#include <cooperative_groups.h>
#include <cstdio>
#ifndef VARIANT
#define VARIANT 0
#endif
namespace cg = cooperative_groups;

__global__ void twice(const float *a, float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = i; j < n; j += gridDim.x * blockDim.x) b[j] = a[j] * 2;
  if (VARIANT != 2) cg::this_grid().sync();
  for (int j = i; j < n; j += gridDim.x * blockDim.x) c[j] = b[n - 1 - j] + 1;
}
__global__ void add(float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] += 3;
}

int main() {
  int n = 1 << 22;
  float *a, *b, *c, host;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMalloc(&c, n * 4);
  cudaMemset(a, 0x3F, n * 4);
  void *args[] = {&a, &b, &c, &n};
  cudaLaunchCooperativeKernel((void *)twice, dim3(132), dim3(256), args, 0, nullptr);
  cudaLaunchConfig_t config = {};
  config.gridDim = n / 256;
  config.blockDim = 256;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, add, c, n);
  cudaMemcpy(&host, c, 4, cudaMemcpyDeviceToHost);
  printf("%f %s\n", host, cudaGetErrorString(cudaGetLastError()));
}
