__global__ void softgrad(const float* y, const float* dy, float* dx, int rows, int cols, float scale) {
    __shared__ float part[8];
    const float* p = y + (size_t)blockIdx.x * cols;
    const float* g = dy + (size_t)blockIdx.x * cols;
    float a[8], b[8], s = 0.f;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        int c = threadIdx.x + 256 * k;
        a[k] = c < cols ? p[c] : 0.f;
        b[k] = c < cols ? g[c] : 0.f;
        s = fmaf(a[k], b[k], s);
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
    __syncthreads();
    s = 0.f;
    for (int w = 0; w < 8; ++w) s += part[w];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        int c = threadIdx.x + 256 * k;
        if (c < cols) dx[(size_t)blockIdx.x * cols + c] = scale * a[k] * (b[k] - s);
    }
}
