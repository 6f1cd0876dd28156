// The block's stretch of the signal and a halo on both sides live in shared memory.
#define BLOCK 256
#define HALO 64
extern "C" __global__ void __launch_bounds__(BLOCK) gatemean(const float* __restrict__ x, float* __restrict__ y, int n, int r)
{
    __shared__ float tile[BLOCK + 2 * HALO];
    int first = blockIdx.x * BLOCK - HALO;
    for (int e = threadIdx.x; e < BLOCK + 2 * HALO; e += BLOCK) {
        int g = first + e;
        tile[e] = (g >= 0 && g < n) ? x[g] : 0.0f;
    }
    __syncthreads();
    int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k >= n) return;
    int lo = max(k - r, 0), hi = min(k + r, n - 1);
    int from = max(lo - first, 0), to = min(hi - first, BLOCK + 2 * HALO - 1);
    float s = 0.0f;
    for (int e = from; e <= to; ++e) s += tile[e];
    y[k] = s / (float)(hi - lo + 1);
}
