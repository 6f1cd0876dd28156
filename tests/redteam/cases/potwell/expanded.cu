// |a - b|^2 = |a|^2 + |b|^2 - 2 a.b: the norms are made once per tile, three multiply-adds remain per pair.
#define TILE 256
extern "C" __global__ void __launch_bounds__(TILE) potwell(const float* __restrict__ pos, const float* __restrict__ mass,
                                                           float* __restrict__ phi, int n)
{
    __shared__ float4 body[TILE];           // x, y, z, |b|^2
    __shared__ float weight[TILE];
    int t = threadIdx.x;
    int i = blockIdx.x * TILE + t;
    bool mine = i < n;
    float px = 0.f, py = 0.f, pz = 0.f;
    if (mine) { px = pos[3LL * i]; py = pos[3LL * i + 1]; pz = pos[3LL * i + 2]; }
    float own = px * px + py * py + pz * pz + 0.01f;
    float acc = 0.0f;
    for (int base = 0; base < n; base += TILE) {
        int j = base + t;
        if (j < n) {
            float x = pos[3LL * j], y = pos[3LL * j + 1], z = pos[3LL * j + 2];
            body[t] = make_float4(x, y, z, x * x + y * y + z * z);
            weight[t] = mass[j];
        }
        __syncthreads();
        int fill = min(TILE, n - base);
        if (mine) {
            for (int k = 0; k < fill; ++k) {
                float4 b = body[k];
                float dot = b.x * px + b.y * py + b.z * pz;
                float r2 = fmaxf(own + b.w - 2.0f * dot, 0.01f);
                if (base + k != i) acc += weight[k] * rsqrtf(r2);
            }
        }
        __syncthreads();
    }
    if (mine) phi[i] = -acc;
}
