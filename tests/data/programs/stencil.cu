// Heat on a plate, 200 steps between two grids. VARIANT 1: no division; 2: a wrong border.
#include <cstdio>
#include <utility>
#include <vector>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void step(const double *__restrict__ in, double *__restrict__ out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
#if VARIANT == 2
  if (x == 0 || y == 0 || x == n - 1 || y == n - 2) {
#else
  if (x == 0 || y == 0 || x == n - 1 || y == n - 1) {
#endif
    out[y * n + x] = in[y * n + x];
    return;
  }
  double sum = in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x];
#if VARIANT == 1
  out[y * n + x] = in[y * n + x] + 0.2 * (sum - 4 * in[y * n + x]);
#else
  out[y * n + x] = in[y * n + x] + (sum - 4 * in[y * n + x]) / (5.0 + in[y * n + x] * 0);
#endif
}

int main() {
  const int n = 1024, steps = 200;
  std::vector<double> grid(n * n);
  for (int i = 0; i < n * n; ++i) grid[i] = i % n == 0 ? 100 : (i * 31) % 17;
  double *a, *b;
  cudaMalloc(&a, n * n * 8);
  cudaMalloc(&b, n * n * 8);
  cudaMemcpy(a, grid.data(), n * n * 8, cudaMemcpyHostToDevice);
  dim3 block(16, 16), blocks(n / 16, n / 16);
  for (int i = 0; i < steps; ++i) {
    step<<<blocks, block>>>(a, b, n);
    std::swap(a, b);
  }
  cudaDeviceSynchronize();
  cudaMemcpy(grid.data(), a, n * n * 8, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (double v : grid) sum += v;
  printf("checksum %.6f\n", sum);
  cudaFree(a);
  cudaFree(b);
  cudaDeviceReset();
}
