// Four host threads, each with its own default stream. VARIANT 2: one thread's factor is wrong.
#include <cstdio>
#include <thread>
#include <vector>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void scale(float *x, float f, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] = x[i] * f + 1;
}

int main() {
  const int n = 1 << 18, count = 4;
  float *device[count];
  std::vector<std::vector<float>> host(count, std::vector<float>(n, 3.0f));
  for (auto &d : device) cudaMalloc(&d, n * sizeof(float));
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      cudaMemcpyAsync(device[t], host[t].data(), n * 4, cudaMemcpyHostToDevice, cudaStreamPerThread);
      for (int i = 0; i < 10; ++i)
        scale<<<64, 256, 0, cudaStreamPerThread>>>(device[t], VARIANT == 2 && t == 2 ? 0.6f : 0.5f, n);
      cudaStreamSynchronize(cudaStreamPerThread);
    });
  for (auto &t : threads) t.join();
  double sum = 0;
  for (int t = 0; t < count; ++t) {
    cudaMemcpy(host[t].data(), device[t], n * 4, cudaMemcpyDeviceToHost);
    sum += host[t][t];
    cudaFree(device[t]);
  }
  printf("%.6f\n", sum);
}
