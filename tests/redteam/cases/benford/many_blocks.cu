// Benford's law: counts the leading digits of amounts (an amount of 0 leads with 0), and the second
// digits of those that have two.
// Blocks count a part each; the last to end hands all out and leaves zeros for the next call.
__device__ int totals[20];
__device__ unsigned ended;

__global__ void benford(const int* amount, int* leading, int* second, int n) {
  __shared__ int bins[20];
  __shared__ bool closing;
  int t = threadIdx.x;
  if (t < 20) bins[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
    int v = amount[i];
    while (v >= 100) v /= 10;
    if (v >= 10) {
      atomicAdd(&bins[10 + v % 10], 1);
      v /= 10;
    }
    atomicAdd(&bins[v], 1);
  }
  __syncthreads();
  if (t < 20) {
    atomicAdd(&totals[t], bins[t]);
    __threadfence();
  }
  __syncthreads();
  if (t == 0) {
    closing = atomicInc(&ended, gridDim.x - 1) == gridDim.x - 1;  // wraps to 0
    __threadfence();
  }
  __syncthreads();
  if (!closing) return;
  if (t < 10) {
    leading[t] = atomicExch(&totals[t], 0);
    second[t] = atomicExch(&totals[10 + t], 0);
  }
}
