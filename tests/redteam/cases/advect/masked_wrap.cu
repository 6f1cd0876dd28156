// The columns wrap with a mask.
extern "C" __global__ void advect(const float* __restrict__ q, const float* __restrict__ u,
                                  const float* __restrict__ v, float* __restrict__ out, int h, int w, float c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float* row = q + (size_t)y * w;
    size_t i = (size_t)y * w + x;
    float here = row[x];
    float a = u[i], b = v[i];
    float side = row[(x + (a > 0.0f ? -1 : 1)) & (w - 1)];
    float dx = a > 0.0f ? here - side : side - here;
    const float* other = b > 0.0f ? q + (size_t)max(y - 1, 0) * w : q + (size_t)min(y + 1, h - 1) * w;
    float dy = b > 0.0f ? here - other[x] : other[x] - here;
    out[i] = here - c * (a * dx + b * dy);
}
