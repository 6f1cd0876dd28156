__global__ void compact(const int* x, int* out, int* count, int n) {
    int i = (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 50) out[atomicAdd(count, 1)] = x[i] + i * 128;
}
