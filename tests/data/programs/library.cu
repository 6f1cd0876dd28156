// Kernels of a library (Thrust) between the program's own; a global object that frees after main().
// VARIANT 2: sorts the wrong way round.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <cstdio>
#ifndef VARIANT
#define VARIANT 0
#endif

struct Holder {
  float *data = nullptr;
  ~Holder() { cudaFree(data); }
} holder;

__global__ void scramble(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (i * 7919 % n) * 0.5f;
}

int main() {
  const int n = 1 << 18;
  cudaMalloc(&holder.data, n * sizeof(float));
  thrust::device_vector<float> v(n);
  scramble<<<n / 256, 256>>>(thrust::raw_pointer_cast(v.data()), n);
  if (VARIANT == 2)
    thrust::sort(v.begin(), v.end(), thrust::greater<float>());
  else
    thrust::sort(v.begin(), v.end());
  float sum = thrust::reduce(v.begin(), v.end());
  scramble<<<n / 256, 256>>>(holder.data, n);
  float first = v[0];
  printf("%f %f\n", sum, first);
}
