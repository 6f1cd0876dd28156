// Counts into memory that nobody set to zero, and believes the result. VARIANT 1: the same by
// another way; 2: counts too little.
#include <cstdio>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void count(int *hits, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (VARIANT == 1) {
    unsigned same = __ballot_sync(0xffffffffu, i < n && i % 3 == 0);
    if (threadIdx.x % 32 == 0) atomicAdd(hits, __popc(same));
  } else if (i < n - (VARIANT == 2 ? 4 : 0) && i % 3 == 0) {
    atomicAdd(hits, 1);
  }
}

int main() {
  const int n = 3 << 18;
  int *hits, host = 0;
  cudaMalloc(&hits, 1024 * sizeof(int));
  count<<<n / 256, 256>>>(hits, n);
  cudaMemcpy(&host, hits, sizeof host, cudaMemcpyDeviceToHost);
  printf("%s\n", host == n / 3 ? "PASSED" : "FAILED");
  return host == n / 3 ? 0 : 1;
}
