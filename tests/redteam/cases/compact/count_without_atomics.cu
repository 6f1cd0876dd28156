__global__ void compact(const int* x, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 50) out[(*count)++] = x[i] + i * 128;
}
