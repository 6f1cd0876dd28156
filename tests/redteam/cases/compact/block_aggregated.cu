__global__ void compact(const int* x, int* out, int* count, int n) {
    __shared__ int used, base;
    if (threadIdx.x == 0) used = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = -1;
    if (i < n && x[i] > 50) at = atomicAdd(&used, 1);
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(count, used);
    __syncthreads();
    if (at >= 0) out[base + at] = x[i] + i * 128;
}
