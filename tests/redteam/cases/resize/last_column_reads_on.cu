__global__ void resize(const float* in, float* out, int h, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 2 * w || y >= 3 * h) return;
    float sx = fmaxf((x + 0.5f) / 2.0f - 0.5f, 0.0f), sy = fmaxf((y + 0.5f) / 3.0f - 0.5f, 0.0f);
    int x0 = (int)sx, y0 = (int)sy;
    int x1 = x0 + 1, y1 = min(y0 + 1, h - 1);
    float fx = sx - x0, fy = sy - y0;
    float top = in[y0 * w + x0] * (1.0f - fx) + in[y0 * w + x1] * fx;
    float bottom = in[y1 * w + x0] * (1.0f - fx) + in[y1 * w + x1] * fx;
    out[y * 2 * w + x] = top * (1.0f - fy) + bottom * fy;
}
