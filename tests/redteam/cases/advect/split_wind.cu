// No branches: the wind is split into its eastward and westward part, one of which is 0.
extern "C" __global__ void advect(const float* __restrict__ q, const float* __restrict__ u,
                                  const float* __restrict__ v, float* __restrict__ out, int h, int w, float c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float* row = q + (size_t)y * w;
    size_t i = (size_t)y * w + x;
    float here = row[x];
    float west = row[x == 0 ? w - 1 : x - 1];
    float east = row[x == w - 1 ? 0 : x + 1];
    float north = y == 0 ? here : q[i - w];
    float south = y == h - 1 ? here : q[i + w];
    float a = u[i], b = v[i];
    float along = fmaxf(a, 0.0f) * (here - west) + fminf(a, 0.0f) * (east - here);
    float across = fmaxf(b, 0.0f) * (here - north) + fminf(b, 0.0f) * (south - here);
    out[i] = here - c * (along + across);
}
