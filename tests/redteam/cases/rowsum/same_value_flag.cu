__global__ void rowsum(const float* x, float* out, int rows, int cols) {
    __shared__ float part[256];
    __shared__ int any;
    any = 0;
    __syncthreads();
    float s = 0.f;
    for (int c = threadIdx.x; c < cols; c += 256) s += x[(size_t)blockIdx.x * cols + c];
    part[threadIdx.x] = s;
    if (s != 0.f) any = 1;
    __syncthreads();
    if (any) {
        for (int w = 128; w; w /= 2) {
            if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
            __syncthreads();
        }
    }
    if (threadIdx.x == 0) out[blockIdx.x] = any ? part[0] : s;
}
