// Writes its result straight into the host's memory, and a part of 12 GB on the device.
// VARIANT 2: the result is wrong in the host's memory only.
#include <cstdio>
#include <cstdlib>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void square(const int *x, long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (long long)x[i] * x[i] + (VARIANT == 2 && i == 77);
}

int main() {
  const int n = 1 << 16;
  const size_t large = 12ull << 30;
  int *x;
  char *room;
  long long *host, *seen;
  cudaHostAlloc(&host, n * sizeof *host, cudaHostAllocMapped);
  cudaHostGetDevicePointer(&seen, host, 0);
  if (cudaMalloc(&room, large) != cudaSuccess) return 1;
  cudaMemset(room, 1, large);
  x = (int *)(room + large / 2);
  square<<<n / 256, 256>>>(x, seen, n);
  cudaDeviceSynchronize();
  printf("%lld\n", host[5]);
  cudaFree(room);
}
