// One explicit upwind step of a tracer in a given wind. Columns are periodic, rows end at walls
// (the row beyond a wall equals the row at it).
extern "C" __global__ void advect(const float* q, const float* u, const float* v, float* out,
                                  int h, int w, float c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t row = (size_t)y * w;
    size_t north = (size_t)(y == 0 ? 0 : y - 1) * w;
    size_t south = (size_t)(y == h - 1 ? y : y + 1) * w;
    float here = q[row + x];
    float a = u[row + x];
    float b = v[row + x];
    float dx, dy;
    if (a > 0.0f)
        dx = here - q[row + (x == 0 ? w - 1 : x - 1)];
    else
        dx = q[row + (x == w - 1 ? 0 : x + 1)] - here;
    if (b > 0.0f)
        dy = here - q[north + x];
    else
        dy = q[south + x] - here;
    out[row + x] = here - c * (a * dx + b * dy);
}
