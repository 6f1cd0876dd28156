__global__ void transpose(const float* in, float* out, int w, int h) {
    __shared__ float tile[32 * 32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < w && y + j < h)
            tile[(threadIdx.y + j) * 32 + (threadIdx.x ^ (threadIdx.y + j))] = in[(size_t)(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < h && y + j < w)
            out[(size_t)(y + j) * h + x] = tile[threadIdx.x * 32 + (threadIdx.x ^ (threadIdx.y + j))];
}
