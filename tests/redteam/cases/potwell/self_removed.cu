// The inner loop runs without a branch over all bodies; the body's own share, m_i / 0.1, is taken off at the end.
#define TILE 256
extern "C" __global__ void __launch_bounds__(TILE) potwell(const float* __restrict__ pos, const float* __restrict__ mass,
                                                           float* __restrict__ phi, int n)
{
    __shared__ float4 body[TILE];
    int t = threadIdx.x;
    int i = blockIdx.x * TILE + t;
    bool mine = i < n;
    float px = 0.f, py = 0.f, pz = 0.f;
    if (mine) { px = pos[3LL * i]; py = pos[3LL * i + 1]; pz = pos[3LL * i + 2]; }
    float acc = 0.0f;
    for (int base = 0; base < n; base += TILE) {
        int j = base + t;
        if (j < n) body[t] = make_float4(pos[3LL * j], pos[3LL * j + 1], pos[3LL * j + 2], mass[j]);
        __syncthreads();
        int fill = min(TILE, n - base);
        if (mine) {
            #pragma unroll 8
            for (int k = 0; k < fill; ++k) {
                float4 b = body[k];
                float dx = b.x - px, dy = b.y - py, dz = b.z - pz;
                acc += b.w * rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f))));
            }
        }
        __syncthreads();
    }
    if (mine) phi[i] = -(acc - mass[i] * rsqrtf(0.01f));
}
