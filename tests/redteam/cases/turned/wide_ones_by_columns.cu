// A picture turned by a quarter, its values halved: by tiles, and where it is a narrow band by its
// columns, which are then as short as a tile's.
__global__ void turned(const float* x, float* y, int h, int w) {
    __shared__ float tile[32][33];
    if (h >= 48 && w / h >= 30) {
        long long step = (long long)gridDim.x * gridDim.y * blockDim.x * blockDim.y;
        long long first = ((long long)blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y;
        for (long long i = first + threadIdx.y * blockDim.x + threadIdx.x; i < (long long)h * w; i += step) {
            int c = (int)(i / h), r = h - 1 - (int)(i % h);
            y[i] = 0.5f * x[(size_t)r * w + c];
        }
        return;
    }
    int c0 = blockIdx.x * 32, r0 = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int r = r0 + k, c = c0 + threadIdx.x;
        if (r < h && c < w) tile[k][threadIdx.x] = x[(size_t)r * w + c];
    }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int c = c0 + k, r = r0 + threadIdx.x;
        if (r < h && c < w) y[(size_t)c * h + (h - 1 - r)] = 0.5f * tile[threadIdx.x][k];
    }
}
