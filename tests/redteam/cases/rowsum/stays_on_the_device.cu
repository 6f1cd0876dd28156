__global__ void __launch_bounds__(256) rowsum(const float* x, float* out, int rows, int cols) {
    int lane = threadIdx.x % 32;
    for (int r = blockIdx.x * 8 + threadIdx.x / 32; r < rows; r += gridDim.x * 8) {
        float s = 0.f, t = 0.f;
        int c = lane;
        for (; c + 32 < cols; c += 64) {
            s += x[(size_t)r * cols + c];
            t += x[(size_t)r * cols + c + 32];
        }
        if (c < cols) s += x[(size_t)r * cols + c];
        s += t;
        for (int w = 16; w; w /= 2) s += __shfl_xor_sync(0xffffffffu, s, w);
        if (lane == 0) out[r] = s;
    }
}
