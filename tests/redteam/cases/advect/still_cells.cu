// Cells in still air are most of the map: without wind a cell keeps its value and no neighbour is loaded.
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
    float flux = 0.0f;
    if (a * a > 0.0f) {
        float side = a > 0.0f ? row[x == 0 ? w - 1 : x - 1] : row[x == w - 1 ? 0 : x + 1];
        flux += fabsf(a) * (here - side);
    }
    if (b * b > 0.0f) {
        int n = b > 0.0f ? max(y - 1, 0) : min(y + 1, h - 1);
        flux += fabsf(b) * (here - q[(size_t)n * w + x]);
    }
    out[i] = here - c * flux;
}
