// Kernels that allocate on the device's heap and print. VARIANT 2: counts one too many.
#include <cstdio>
#ifndef VARIANT
#define VARIANT 0
#endif

__global__ void take(int **slots, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  slots[i] = (int *)malloc(64);
  slots[i][0] = i;
}
__global__ void sum(int **slots, int *out, int n) {
  int i = threadIdx.x;
  int mine = 0;
  for (int j = i; j < n; j += blockDim.x) {
    mine += slots[j][0];
    free(slots[j]);
  }
  atomicAdd(out, mine);
  if (i == 0) printf("on the device\n");
  if (VARIANT == 2 && i == 0) atomicAdd(out, 1);
}

int main() {
  const int n = 20000;
  int **slots, *out, host = 0;
  cudaMalloc(&slots, n * sizeof(int *));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  take<<<(n + 127) / 128, 128>>>(slots, n);
  sum<<<1, 256>>>(slots, out, n);
  cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d %s\n", host, cudaGetErrorString(cudaGetLastError()));
}
