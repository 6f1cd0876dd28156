// How unlike are plots and sites?  For n plots and s sites with d species counts each:
//   out[i][j] = sum over species of |a-b| / (|a|+|b|)
// Where both counts are zero, or one of them is missing (NaN), the species counts for nothing.
// One thread per pair straight from the caches, four species per load where the rows allow it.

__device__ __forceinline__ float term(float a, float b)
{
    const float den = fabsf(a) + fabsf(b);
    return den > 0.f ? fabsf(a - b) / den : 0.f;
}

extern "C" __global__ void __launch_bounds__(256) savanna(const float* __restrict__ plot, const float* __restrict__ site,
                                                          float* __restrict__ out, int n, int s, int d)
{
    const int c = blockIdx.x * 16 + (threadIdx.x & 15), r = blockIdx.y * 16 + (threadIdx.x >> 4);
    if (r >= n || c >= s) return;
    const float* a = plot + (size_t)r * d;
    const float* b = site + (size_t)c * d;
    float e = 0.f, f = 0.f, g = 0.f, h = 0.f;
    int k = 0;
    if (d % 4 == 0)
        for (; k < d; k += 4) {
            const float4 p = __ldg((const float4*)(a + k)), q = __ldg((const float4*)(b + k));
            e += term(p.x, q.x); f += term(p.y, q.y); g += term(p.z, q.z); h += term(p.w, q.w);
        }
    for (; k < d; k++) e += term(__ldg(a + k), __ldg(b + k));
    out[(size_t)r * s + c] = (e + f) + (g + h);
}
