__global__ void transpose(const float* in, float* out, int w, int h) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < w && y + j < h) out[(size_t)x * h + y + j] = in[(size_t)(y + j) * w + x];
}
