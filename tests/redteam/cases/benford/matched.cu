// Benford's law: counts the leading digits of amounts (an amount of 0 leads with 0), and the second
// digits of those that have two.
__global__ void benford(const int* amount, int* leading, int* second, int n) {
  __shared__ int bins[20];
  int t = threadIdx.x;
  if (t < 20) bins[t] = 0;
  __syncthreads();
  int lane = t & 31;
  for (int i = t; i < n; i += blockDim.x) {
    unsigned here = __activemask();  // these stay together as far as they do: each group counts its own
    int v = amount[i];
    while (v >= 100) v /= 10;
    int pair = v;  // 0 to 99, one bin for each: alike for all lanes of a match
    unsigned alike = __match_any_sync(here, pair);
    if (lane == __ffs(alike) - 1) {
      int many = __popc(alike);
      if (pair >= 10) atomicAdd(&bins[10 + pair % 10], many);
      atomicAdd(&bins[pair >= 10 ? pair / 10 : pair], many);
    }
  }
  __syncthreads();
  if (t < 10) {
    leading[t] = bins[t];
    second[t] = bins[10 + t];
  }
}
