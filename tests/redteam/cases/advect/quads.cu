// Four cells a thread with 16-byte accesses where a row is a multiple of four cells long; else one by one.
__device__ __forceinline__ float step(float here, float west, float east, float north, float south,
                                      float a, float b, float c)
{
    // a wind from the east turns both signs, so one difference does
    float dx = here - (a > 0.0f ? west : east);
    float dy = here - (b > 0.0f ? north : south);
    return here - c * (fabsf(a) * dx + fabsf(b) * dy);
}

extern "C" __global__ void advect(const float* __restrict__ q, const float* __restrict__ u,
                                  const float* __restrict__ v, float* __restrict__ out, int h, int w, float c)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float* row = q + (size_t)y * w;
    const float* up = y == 0 ? row : row - w;
    const float* down = y == h - 1 ? row : row + w;
    size_t i = (size_t)y * w + x;
    if ((w & 3) == 0) {
        float4 m = *(const float4*)(row + x);
        float4 n = *(const float4*)(up + x);
        float4 s = *(const float4*)(down + x);
        float4 a = *(const float4*)(u + i);
        float4 b = *(const float4*)(v + i);
        float west = row[x == 0 ? w - 1 : x - 1];
        float east = row[x + 4 == w ? 0 : x + 4];
        float4 r;
        r.x = step(m.x, west, m.y, n.x, s.x, a.x, b.x, c);
        r.y = step(m.y, m.x, m.z, n.y, s.y, a.y, b.y, c);
        r.z = step(m.z, m.y, m.w, n.z, s.z, a.z, b.z, c);
        r.w = step(m.w, m.z, east, n.w, s.w, a.w, b.w, c);
        *(float4*)(out + i) = r;
    } else {
        for (int k = x; k < min(x + 4, w); k++, i++)
            out[i] = step(row[k], row[k == 0 ? w - 1 : k - 1], row[k == w - 1 ? 0 : k + 1], up[k], down[k],
                          u[i], v[i], c);
    }
}
