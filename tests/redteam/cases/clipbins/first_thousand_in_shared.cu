// How many numbers lie in each of `bins` equal parts of low to high; what lies beyond is in the ends.
__global__ void clipbins(const float* x, int* count, int n, int bins, float low, float high) {
    __shared__ int mine[1024];
    float scale = bins / (high - low);
    for (int b = threadIdx.x; b < 1024; b += blockDim.x) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int b = (int)floorf((x[i] - low) * scale);
        b = b < 0 ? 0 : b >= bins ? bins - 1 : b;
        atomicAdd(b < 1024 ? mine + b : count + b, 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < min(bins, 1024); b += blockDim.x)
        if (mine[b]) atomicAdd(count + b, mine[b]);
}
