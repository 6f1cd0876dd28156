// Double-buffered tiles: while one tile is worked on, cp.async brings the next.
#include <cuda_pipeline.h>
#define TILE 256
__device__ __forceinline__ void fetch(float* sp, float* sm, const float* pos, const float* mass, int base, int n)
{
    int fill = min(TILE, n - base);
    for (int e = threadIdx.x; e < 3 * fill; e += TILE)
        __pipeline_memcpy_async(sp + e, pos + 3LL * base + e, 4);
    if ((int)threadIdx.x < fill)
        __pipeline_memcpy_async(sm + threadIdx.x, mass + base + threadIdx.x, 4);
}

extern "C" __global__ void __launch_bounds__(TILE) potwell(const float* __restrict__ pos, const float* __restrict__ mass,
                                                           float* __restrict__ phi, int n)
{
    __shared__ float sp[2][3 * TILE];
    __shared__ float sm[2][TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    bool mine = i < n;
    float px = 0.f, py = 0.f, pz = 0.f;
    if (mine) { px = pos[3LL * i]; py = pos[3LL * i + 1]; pz = pos[3LL * i + 2]; }
    float acc = 0.0f;
    fetch(sp[0], sm[0], pos, mass, 0, n);
    __pipeline_commit();
    int cur = 0;
    for (int base = 0; base < n; base += TILE, cur ^= 1) {
        if (base + TILE < n) {
            fetch(sp[cur ^ 1], sm[cur ^ 1], pos, mass, base + TILE, n);
            __pipeline_commit();
        }
        __pipeline_wait_prior(1);           // all but the newest group: the current tile is here
        __syncthreads();
        if (mine) {
            int fill = min(TILE, n - base);
            const float* p = sp[cur];
            const float* m = sm[cur];
            for (int k = 0; k < fill; ++k) {
                float dx = p[3 * k] - px, dy = p[3 * k + 1] - py, dz = p[3 * k + 2] - pz;
                float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
                if (base + k != i) acc += m[k] / sqrtf(r2);
            }
        }
        __syncthreads();
    }
    if (mine) phi[i] = -acc;
}
