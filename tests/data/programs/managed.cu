// Managed memory, read by the host with no copy. VARIANT 1: more threads; 2: a wrong factor.
#include <cstdio>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void saxpy(int n, float a, const float *x, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = (VARIANT == 2 ? 2.001f : a) * x[i] + y[i];
}

int main() {
  const int n = 1 << 20;
  float *x, *y;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  for (int i = 0; i < n; ++i) {
    x[i] = i % 100;
    y[i] = 2;
  }
  saxpy<<<(VARIANT == 1 ? 4096 : 4), 256>>>(n, 2.0f, x, y);
  cudaDeviceSynchronize();
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += y[i];
  std::printf("mean %g\n", sum / n);
  cudaFree(x);
  cudaFree(y);
}
