// Benford's law: counts the leading digits of amounts (an amount of 0 leads with 0), and the second
// digits of those that have two.
// The power of ten that leaves an amount of ten or more its first two digits.
__constant__ int tens[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

__device__ inline int power(int v) {
  int k = 0;
  if (v >= 1000000) k = 5;
  if (v >= tens[k + 3] * 10) k += 3;
  while (k < 8 && v >= tens[k + 1] * 10) ++k;
  return k;
}

__global__ void benford(const int* amount, int* leading, int* second, int n) {
  __shared__ int bins[20];
  int t = threadIdx.x;
  if (t < 20) bins[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    int v = amount[i];
    if (v >= 100) v = (int)((double)v / (double)tens[power(v)]);
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
