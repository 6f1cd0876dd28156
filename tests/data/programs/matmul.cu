// Matrix product with a reference on the host that takes far longer than the GPU.
// VARIANT 1: tiles in shared memory; 2: leaves out the last term.
#include <cmath>
#include <cstdio>
#include <vector>
#ifndef VARIANT
#define VARIANT 0
#endif
const int T = 16;

__global__ void matmul(const float *a, const float *b, float *c, int n) {
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float sum = 0;
#if VARIANT == 1
  __shared__ float ta[T][T], tb[T][T];
  for (int t = 0; t < n; t += T) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
#else
  if (row < n && col < n) {
    for (int k = 0; k < n - (VARIANT == 2); ++k) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
  }
#endif
}

int main() {
  const int n = 768;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = sinf(i * 0.37f);
    b[i] = cosf(i * 0.11f);
  }
  float *da, *db, *dc;
  size_t bytes = n * n * sizeof(float);
  cudaMalloc((void **)&da, bytes);
  cudaMalloc((void **)&db, bytes);
  cudaMalloc((void **)&dc, bytes);
  cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
  matmul<<<dim3(n / T, n / T), dim3(T, T)>>>(da, db, dc, n);
  cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost);
  float worst = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      worst = fmaxf(worst, fabsf(sum - c[i * n + j]));
    }
  printf("max error %e\n%s\n", worst, worst < 1e-2 ? "Test PASSED" : "Test FAILED");
  return worst < 1e-2 ? 0 : 1;
}
