__global__ void rowsum(const float* x, float* out, int rows, int cols) {
    int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows || lane >= cols) return;
    float s = 0.f;
    for (int c = lane; c < cols; c += 32) s += x[(size_t)r * cols + c];
    for (int w = 16; w; w /= 2) s += __shfl_down_sync(0xffffffffu, s, w);
    if (lane == 0) out[r] = s;
}
