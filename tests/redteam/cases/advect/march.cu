// A thread goes down 16 rows of its column; the row above and the row below stay in registers.
#define ROWS 16

extern "C" __global__ void advect(const float* __restrict__ q, const float* __restrict__ u,
                                  const float* __restrict__ v, float* __restrict__ out, int h, int w, float c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    int y0 = blockIdx.y * ROWS, y1 = min(y0 + ROWS, h);
    int xw = x == 0 ? w - 1 : x - 1;
    int xe = x + 1 == w ? 0 : x + 1;
    float above = q[(size_t)max(y0 - 1, 0) * w + x];
    float here = q[(size_t)y0 * w + x];
    for (int y = y0; y < y1; y++) {
        const float* row = q + (size_t)y * w;
        float below = q[(size_t)min(y + 1, h - 1) * w + x];
        size_t i = (size_t)y * w + x;
        float a = u[i], b = v[i];
        float side = row[a > 0.0f ? xw : xe];
        float dx = a > 0.0f ? here - side : side - here;
        float dy = b > 0.0f ? here - above : below - here;
        out[i] = here - c * (a * dx + b * dy);
        above = here;
        here = below;
    }
}
