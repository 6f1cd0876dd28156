// Elementwise chain over 4M floats, launched twice. VARIANT 1: vector loads; 2: forgets the tail;
// 3: writes one element behind the end; 4: never ends.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void blend(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#if VARIANT == 1
  if (i < n / 4) {
    float4 x = reinterpret_cast<const float4 *>(a)[i], y = reinterpret_cast<const float4 *>(b)[i];
    reinterpret_cast<float4 *>(c)[i] = make_float4(x.x * 0.25f + y.x, x.y * 0.25f + y.y,
                                                   x.z * 0.25f + y.z, x.w * 0.25f + y.w);
  }
#elif VARIANT == 2
  if (i < n - 33) c[i] = a[i] * 0.25f + b[i];
#elif VARIANT == 3
  if (i < n + 1) c[i] = (i < n ? a[i] * 0.25f + b[i] : 1.0f);
#elif VARIANT == 4
  while (c[0] != 12345.0f) c[1] += 1;
#else
  if (i < n) c[i] = a[i] * 0.25f + b[i];
#endif
}

int main() {
  const int n = 1 << 22;
  std::vector<float> a(n), b(n), c(n);
  srand(time(NULL));
  for (int i = 0; i < n; ++i) {
    a[i] = rand() / (float)RAND_MAX;
    b[i] = rand() / (float)RAND_MAX;
  }
  float *da, *db, *dc;
  cudaMalloc(&da, n * 4);
  cudaMalloc(&db, n * 4);
  cudaMalloc(&dc, n * 4);
  cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * 4, cudaMemcpyHostToDevice);
  for (int i = 0; i < 2; ++i) blend<<<n / 256 + 1, 256>>>(da, db, dc, n);
  cudaMemcpy(c.data(), dc, n * 4, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] - (a[i] * 0.25f + b[i]) > 1e-5f;
  printf("%s\n", wrong ? "FAIL" : "PASS");
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
}
