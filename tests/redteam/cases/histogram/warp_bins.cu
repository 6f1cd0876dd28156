__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
    __shared__ unsigned mine[8][256];
    for (int k = threadIdx.x; k < 2048; k += 256) (&mine[0][0])[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[threadIdx.x / 32][x[i]], 1u);
    __syncthreads();
    unsigned s = 0;
    for (int w = 0; w < 8; ++w) s += mine[w][threadIdx.x];
    if (s) atomicAdd(&bins[threadIdx.x], s);
}
