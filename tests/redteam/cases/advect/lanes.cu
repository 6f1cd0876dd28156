// East and west neighbours come from the neighbouring lanes; only the ends of a warp load theirs.
extern "C" __global__ void advect(const float* __restrict__ q, const float* __restrict__ u,
                                  const float* __restrict__ v, float* __restrict__ out, int h, int w, float c)
{
    int lane = threadIdx.x;                               // blocks are 32 wide
    int x = blockIdx.x * 32 + lane;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= h) return;                                   // whole warps only
    const float* row = q + (size_t)y * w;
    float here = row[min(x, w - 1)];
    float west = __shfl_up_sync(0xffffffffu, here, 1);
    float east = __shfl_down_sync(0xffffffffu, here, 1);
    if (x >= w) return;
    if (lane == 0) west = row[x == 0 ? w - 1 : x - 1];
    if (lane == 31 || x == w - 1) east = row[x == w - 1 ? 0 : x + 1];
    size_t i = (size_t)y * w + x;
    float a = u[i], b = v[i];
    float dx = a > 0.0f ? here - west : east - here;
    float dy;
    if (b > 0.0f)
        dy = y == 0 ? here - here : here - q[i - w];
    else
        dy = y == h - 1 ? here - here : q[i + w] - here;
    out[i] = here - c * fmaf(a, dx, b * dy);
}
