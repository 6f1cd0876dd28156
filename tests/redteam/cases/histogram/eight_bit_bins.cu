__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[x[i]], 1u);
    __syncthreads();
    if (mine[threadIdx.x]) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x] & 255);
}
