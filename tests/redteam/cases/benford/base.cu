// Benford's law: counts the leading digits of amounts (an amount of 0 leads with 0), and the second
// digits of those that have two.
__global__ void benford(const int* amount, int* leading, int* second, int n) {
  __shared__ int bins[20];
  int t = threadIdx.x;
  if (t < 20) bins[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    int v = amount[i];
    while (v >= 100) v /= 10;
    if (v >= 10) {
      atomicAdd(&bins[10 + v % 10], 1);
      v /= 10;
    }
    atomicAdd(&bins[v], 1);
  }
  __syncthreads();
  if (t < 10) {
    leading[t] = bins[t];
    second[t] = bins[10 + t];
  }
}
