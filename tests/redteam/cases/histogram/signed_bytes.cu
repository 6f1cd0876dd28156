__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[(int)(signed char)x[i]], 1u);
}
