// How many numbers lie in each of `bins` equal parts of low to high; what lies beyond is in the ends.
__global__ void clipbins(const float* x, int* count, int n, int bins, float low, float high) {
    __shared__ unsigned mine[1024];
    float scale = bins / (high - low);
    for (int b = threadIdx.x; b < 1024; b += blockDim.x) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int b = (int)floorf((x[i] - low) * scale);
        b = b < 0 ? 0 : b >= bins ? bins - 1 : b;
        if (b < 2048) atomicAdd(mine + b / 2, b % 2 ? 65536u : 1u);
        else atomicAdd(count + b, 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < min(bins, 2048); b += blockDim.x)
        atomicAdd(count + b, (int)(b % 2 ? mine[b / 2] >> 16 : mine[b / 2] & 65535u));
}
