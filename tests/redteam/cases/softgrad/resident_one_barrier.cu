__global__ void softgrad(const float* y, const float* dy, float* dx, int rows, int cols, float scale) {
    __shared__ float part[8];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        const float* p = y + (size_t)r * cols;
        const float* g = dy + (size_t)r * cols;
        float s = 0.f;
        for (int c = threadIdx.x; c < cols; c += 256) s = fmaf(__ldg(p + c), __ldg(g + c), s);
        for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
        if (lane == 0) part[warp] = s;
        __syncthreads();
        s = 0.f;
        for (int w = 0; w < 8; ++w) s += part[w];
        for (int c = threadIdx.x; c < cols; c += 256)
            dx[(size_t)r * cols + c] = scale * __ldg(p + c) * (__ldg(g + c) - s);
    }
}
