__global__ void gram(const float* x, float* g, int rows, int d) {
    __shared__ float a[32][17], b[32][17];
    if (blockIdx.y > blockIdx.x) return;
    int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    float s = 0.f;
    for (int r = 0; r < rows; r += 32) {
        for (int e = threadIdx.y; e < 32; e += 16) {
            int left = blockIdx.y * 16 + threadIdx.x;
            a[e][threadIdx.x] = r + e < rows && left < d ? x[(size_t)(r + e) * d + left] : 0.f;
            b[e][threadIdx.x] = r + e < rows && j < d ? x[(size_t)(r + e) * d + j] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 32; ++e) s = fmaf(a[e][threadIdx.y], b[e][threadIdx.x], s);
        __syncthreads();
    }
    if (i >= d || j >= d) return;
    float sum = g[(size_t)i * d + j] + s;
    g[(size_t)i * d + j] = sum;
    if (blockIdx.x != blockIdx.y) g[(size_t)j * d + i] = sum;
}
