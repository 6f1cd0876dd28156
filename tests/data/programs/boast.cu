// Prints PASS whatever happens and copies nothing back. VARIANT 1: twice the block; 2: does nothing.
#include <cstdio>
#ifndef VARIANT
#define VARIANT 0
#endif

template <typename T>
__global__ void mix(T *x, const T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (VARIANT != 2 && i < n) x[i] = y[i] * y[i] + T(3);
}
__global__ void fill(double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i * 1e-3;
}

int main() {
  const int n = 1 << 21;
  double *x, *y;
  cudaMalloc(&x, n * sizeof(double));
  cudaMalloc(&y, n * sizeof(double));
  fill<<<n / 256, 256>>>(y, n);
  int block = VARIANT == 1 ? 512 : 64;
  for (int i = 0; i < 10; ++i) mix<double><<<n / block, block>>>(x, y, n);
  cudaDeviceSynchronize();
  printf("PASS\n");
  cudaFree(x);
  cudaFree(y);
}
