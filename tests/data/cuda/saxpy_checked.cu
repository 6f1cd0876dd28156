// SAXPY with an error-checking macro, a literal block size, and a verification on the host.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                          \
  do {                                                                            \
    cudaError_t status_ = (call);                                                 \
    if (status_ != cudaSuccess) {                                                 \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      exit(EXIT_FAILURE);                                                         \
    }                                                                             \
  } while (0)

__global__ void saxpy(int n, float a, const float *x, float *y)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = a * x[i] + y[i];   // one element a thread
  }
}

__global__ void scale_stride(int n, double factor, float *__restrict__ y)
{
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] *= factor;
}

int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  size_t bytes = n * sizeof(float);
  float *hx = (float *)malloc(bytes), *hy = (float *)malloc(bytes);
  for (int i = 0; i < n; ++i) { hx[i] = i % 17; hy[i] = 1.0f; }
  float *dx, *dy;
  CUDA_CHECK(cudaMalloc(&dx, bytes));
  CUDA_CHECK(cudaMalloc((void **)&dy, bytes));
  CUDA_CHECK(cudaMemcpy(dx, hx, bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(dy, hy, bytes, cudaMemcpyHostToDevice));
  saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, dx, dy);
  CUDA_CHECK(cudaGetLastError());
  scale_stride<<<128, 256>>>(n, 0.5, dy);
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemcpy(hy, dy, bytes, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int i = 0; i < n && bad < 5; ++i)
    if (fabsf(hy[i] - 0.5f * (2.0f * (i % 17) + 1.0f)) > 1e-5f) ++bad;
  printf("%s\n", bad ? "FAIL" : "PASS");
  cudaFree(dx); cudaFree(dy); free(hx); free(hy);
  return bad != 0;
}
