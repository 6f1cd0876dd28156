// Byte histogram by global atomics. VARIANT 1: a copy for each block; 2: loses the last bin.
#include <cstdio>
#include <cstdlib>
#include <vector>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void histogram(const unsigned char *data, unsigned int *bins, int n) {
  int start = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
#if VARIANT == 1
  __shared__ unsigned int mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = start; i < n; i += stride) atomicAdd(&mine[data[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
#else
  for (int i = start; i < n; i += stride)
    if (VARIANT != 2 || data[i] != 255) atomicAdd(&bins[data[i]], 1u);
#endif
}

int main() {
  const int n = 1 << 24;
  std::vector<unsigned char> data(n);
  for (int i = 0; i < n; ++i) data[i] = (i * 2654435761u) >> 24;
  unsigned char *d;
  unsigned int *bins, host[256];
  cudaMalloc(&d, n);
  cudaMalloc(&bins, sizeof host);
  cudaMemcpy(d, data.data(), n, cudaMemcpyHostToDevice);
  for (int round = 0; round < 20; ++round) {
    cudaMemset(bins, 0, sizeof host);
    histogram<<<512, 256>>>(d, bins, n);
    cudaMemcpy(host, bins, sizeof host, cudaMemcpyDeviceToHost);
  }
  printf("bin 0: %u, bin 255: %u\n", host[0], host[255]);
}
