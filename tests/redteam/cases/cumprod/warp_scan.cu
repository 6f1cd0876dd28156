__global__ void cumprod(const float* x, float* y, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float before = 1.f;
    for (int c = lane; c - lane < cols; c += 32) {
        float p = c < cols ? x[(size_t)r * cols + c] : 1.f;
        for (int d = 1; d < 32; d *= 2) {
            float other = __shfl_up_sync(0xffffffffu, p, d);
            if (lane >= d) p *= other;
        }
        p *= before;
        if (c < cols) y[(size_t)r * cols + c] = p;
        before = __shfl_sync(0xffffffffu, p, 31);
    }
}
