// Benford's law: counts the leading digits of amounts (an amount of 0 leads with 0), and the second
// digits of those that have two.
__global__ void benford(const int* amount, int* leading, int* second, int n) {
  __shared__ int bins[20];
  int t = threadIdx.x;
  if (t < 20) bins[t] = 0;
  __syncthreads();
  // this thread's counts, eight bits each: three words for the leading digits, three for the second
  unsigned own[6] = {0, 0, 0, 0, 0, 0};
  int held = 0;
  for (int i = t; i < n; i += blockDim.x) {
    int v = amount[i];
    while (v >= 100) v /= 10;
    int s = v >= 10 ? v % 10 : -1;
    if (v >= 10) v /= 10;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      if (v >> 2 == k) own[k] += 1u << 8 * (v & 3);
      if (s >> 2 == k) own[3 + k] += 1u << 8 * (s & 3);
    }
    if (++held == 255 || i + (int)blockDim.x >= n) {
      for (int d = 0; d < 10; ++d) {
        atomicAdd(&bins[d], (int)(own[d >> 2] >> 8 * (d & 3) & 255));
        atomicAdd(&bins[10 + d], (int)(own[3 + (d >> 2)] >> 8 * (d & 3) & 255));
      }
#pragma unroll
      for (int k = 0; k < 6; ++k) own[k] = 0;
      held = 0;
    }
  }
  __syncthreads();
  if (t < 10) {
    leading[t] = bins[t];
    second[t] = bins[10 + t];
  }
}
