__device__ __forceinline__ float lerp(float a, float b, float t) { return fmaf(t, b - a, a); }

__global__ void resize(const float* __restrict__ in, float* out, int h, int w) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 2 * w || y >= 3 * h) return;
    const float sx = fmaxf(0.5f * x - 0.25f, 0.0f), sy = fmaxf((y + 0.5f) / 3.0f - 0.5f, 0.0f);
    const int x0 = (int)sx, y0 = (int)sy, x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
    const float top = lerp(in[y0 * w + x0], in[y0 * w + x1], sx - x0);
    const float bottom = lerp(in[y1 * w + x0], in[y1 * w + x1], sx - x0);
    out[y * 2 * w + x] = lerp(top, bottom, sy - y0);
}
