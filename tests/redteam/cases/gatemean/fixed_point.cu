// Sliding sums in 64-bit fixed point with 32 fractional bits: integer addition is exact and undoes itself exactly,
// so the window can slide without drift.
#define RUN 32
__device__ __forceinline__ long long fixed(float v) { return __float2ll_rn(v * 4294967296.0f); }

extern "C" __global__ void gatemean(const float* __restrict__ x, float* __restrict__ y, int n, int r)
{
    long long start = (long long)RUN * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (start >= n) return;
    int k = (int)start;
    int stop = min(n, k + RUN);
    int lo = max(k - r, 0), hi = min(k + r, n - 1);
    long long s = 0;
    for (int j = lo; j <= hi; ++j) s += fixed(x[j]);
    for (;;) {
        y[k] = (float)((double)s * (1.0 / 4294967296.0) / (hi - lo + 1));
        if (++k >= stop) break;
        if (k + r <= n - 1) { s += fixed(x[k + r]); hi = k + r; }
        if (k - r - 1 >= 0) { s -= fixed(x[k - r - 1]); lo = k - r; }
    }
}
