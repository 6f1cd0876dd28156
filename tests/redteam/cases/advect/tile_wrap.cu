// The tracer is staged in shared memory with a rim of one cell; the rim wraps by a compare, not a division.
extern "C" __global__ void advect(const float* __restrict__ q, const float* __restrict__ u,
                                  const float* __restrict__ v, float* __restrict__ out, int h, int w, float c)
{
    __shared__ float s[10][35];
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 10 * 34; i += 256) {
        int ty = i / 34, tx = i % 34;
        int gy = min(max(y0 + ty - 1, 0), h - 1);
        int gx = x0 + tx - 1;
        if (gx < 0) gx += w;
        if (gx >= w) gx -= w;
        s[ty][tx] = q[(size_t)gy * w + gx];
    }
    __syncthreads();
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t i = (size_t)y * w + x;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    float a = u[i], b = v[i];
    float here = s[ty][tx];
    float dx = a > 0.0f ? here - s[ty][tx - 1] : s[ty][tx + 1] - here;
    float dy = b > 0.0f ? here - s[ty - 1][tx] : s[ty + 1][tx] - here;
    out[i] = here - c * (a * dx + b * dy);
}
