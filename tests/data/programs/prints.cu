// Prints what is another in every build or run: its own path, its launch, times in several units, a
// word that the clock chooses. VARIANT 1: a block a row, other launch; 2: prints FAIL besides.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void norms(const float *x, float *out, int rows, int columns) {
#if VARIANT == 1
  __shared__ float parts[8];
  const int row = blockIdx.x;
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    sum += x[row * columns + c] * x[row * columns + c];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 8; ++i) sum += parts[i];
    out[row] = sqrtf(sum);
  }
#else
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum += x[row * columns + c] * x[row * columns + c];
  out[row] = sqrtf(sum);
#endif
}

int main(int argc, char **argv) {
  const int rows = argc > 1 ? atoi(argv[1]) : 8192, columns = 1024;
  std::vector<float> x(rows * columns), out(rows);
  for (size_t i = 0; i < x.size(); ++i) x[i] = (i * 37 % 1000) / 999.0f;
  float *dx, *dout;
  cudaMalloc(&dx, x.size() * 4);
  cudaMalloc(&dout, rows * 4);
  cudaMemcpy(dx, x.data(), x.size() * 4, cudaMemcpyHostToDevice);
  const int threads = VARIANT == 1 ? 256 : 128;
  const int blocks = VARIANT == 1 ? rows : (rows + threads - 1) / threads;
  printf("[%s] starts\nlaunches %d blocks of %d threads\n", argv[0], blocks, threads);
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) norms<<<blocks, threads>>>(dx, dout, rows, columns);
  cudaDeviceSynchronize();
  const auto took = std::chrono::steady_clock::now() - begun;
  const double us = std::chrono::duration<double, std::micro>(took).count();
  cudaMemcpy(out.data(), dout, rows * 4, cudaMemcpyDeviceToHost);
  if (us > 1000) printf("it took %.2f ms\n", us / 1000); else printf("it took %.0f us\n", us);
  printf("a %s number\n", std::chrono::nanoseconds(took).count() % 2 ? "odd" : "even");
  printf("%8s  %10s\n%8d  %10.1f\n", "rows", "time (ms)", rows, us / 1000);
  double worst = 0;
  for (int r = 0; r < rows; r += 64) {
    double sum = 0;
    for (int c = 0; c < columns; ++c) sum += double(x[r * columns + c]) * x[r * columns + c];
    worst = std::fmax(worst, std::fabs(std::sqrt(sum) - out[r]));
  }
  printf("largest error %g\n", worst);
  if (VARIANT == 2) printf("FAIL\n");
  return 0;
}
