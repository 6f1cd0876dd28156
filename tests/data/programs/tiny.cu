// Two thousand launches of two small kernels with a wait behind each, nothing freed, state in device
// variables. VARIANT 1: fewer idle threads; 2: a counter that is off by one.
#include <cstdio>
#include <cstdlib>
#ifndef VARIANT
#define VARIANT 0
#endif
namespace {
__device__ int rounds;
__constant__ float weight[4];

__global__ void advance(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#if VARIANT != 1
  for (int k = 0; k < 40; ++k) __syncthreads();
#endif
  if (i < n) x[i] = x[i] * weight[i % 4] + 0.5f;
  if (i == 0) rounds += VARIANT == 2 && rounds == 999 ? 2 : 1;
}
__global__ void collect(const float *x, float *out) {
  if (threadIdx.x == 0) out[0] = x[0] + rounds;
}
}  // namespace

int main(int argc, char **argv) {
  const int n = 4096, steps = argc > 1 ? atoi(argv[1]) : 1000;
  float *x, *out, host, w[4] = {0.5f, 0.6f, 0.7f, 0.8f};
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&out, sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaMemcpyToSymbol(weight, w, sizeof w);
  for (int i = 0; i < steps; ++i) {
    advance<<<(n + 1023) / 1024, 1024>>>(x, n);
    collect<<<1, 32>>>(x, out);
    cudaDeviceSynchronize();
  }
  cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
  int seen;
  cudaMemcpyFromSymbol(&seen, rounds, sizeof seen);
  printf("%f after %d rounds\n", host, seen);
  exit(0);
}
