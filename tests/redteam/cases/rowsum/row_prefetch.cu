__global__ void rowsum(const float* x, float* out, int rows, int cols) {
    extern __shared__ float row[];
    for (int c = threadIdx.x; c < cols; c += blockDim.x) row[c] = x[(size_t)blockIdx.x * cols + c];
    __syncthreads();
    if (threadIdx.x >= 32) return;
    float s = 0.f;
    for (int c = threadIdx.x; c < cols; c += 32) s += row[c];
    for (int w = 16; w; w /= 2) s += __shfl_down_sync(0xffffffffu, s, w);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}
