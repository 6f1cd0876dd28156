// A plain reverberator for c channels of n samples: two feedback combs side by side, added up (wet),
// and an all-pass after them (out).
//   comb:     y[t] = x[t] + feed * y[t-D]             D = delay, and delay + delay/3 + 1
//   all-pass: v[t] = -w[t]/2 + w[t-E] + v[t-E]/2      E = delay/4 + 1
// Samples D apart form a chain of their own: one thread per chain, neighbours next to each other in memory.
// Two neighbouring chains per thread, with 8-byte loads, where the delay is even.
#include <cuda_runtime.h>

__global__ void comb(const float* __restrict__ x, float* __restrict__ wet, int c, int n, int D, float feed, bool add)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= c * D) return;
    const int ch = id / D, r = id - ch * D;
    const float* p = x + (size_t)ch * n;
    float* q = wet + (size_t)ch * n;
    float y = 0.f;
    for (int t = r; t < n; t += D) {
        y = p[t] + feed * y;
        q[t] = add ? q[t] + y : y;
    }
}

__global__ void comb2(const float* __restrict__ x, float* __restrict__ wet, int c, int n, int D, float feed, bool add)
{
    const int half = D / 2;
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= c * half) return;
    const int ch = id / half, r = 2 * (id - ch * half);
    const float* p = x + (size_t)ch * n;
    float* q = wet + (size_t)ch * n;
    float2 y = make_float2(0.f, 0.f);
    int t = r;
    for (; t + 1 < n; t += D) {
        const float2 a = *(const float2*)(p + t);
        y.x = a.x + feed * y.x;
        y.y = a.y + feed * y.y;
        float2 o = y;
        if (add) { const float2 w = *(const float2*)(q + t); o.x += w.x; o.y += w.y; }
        *(float2*)(q + t) = o;
    }
    if (t < n) {
        y.x = p[t] + feed * y.x;
        q[t] = add ? q[t] + y.x : y.x;
    }
}

__global__ void allpass(const float* __restrict__ wet, float* __restrict__ out, int c, int n, int E)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= c * E) return;
    const int ch = id / E, r = id - ch * E;
    const float* p = wet + (size_t)ch * n;
    float* q = out + (size_t)ch * n;
    float w = 0.f, v = 0.f;
    for (int t = r; t < n; t += E) {
        const float now = p[t];
        v = -0.5f * now + w + 0.5f * v;
        w = now;
        q[t] = v;
    }
}

static int blocks(long long threads) { return (int)((threads + 255) / 256); }

static void run_comb(const float* x, float* wet, int c, int n, int D, float feed, bool add)
{
    if (D % 2 == 0)
        comb2<<<blocks((long long)c * (D / 2)), 256>>>(x, wet, c, n, D, feed, add);
    else
        comb<<<blocks((long long)c * D), 256>>>(x, wet, c, n, D, feed, add);
}

extern "C" void reverb(const float* x, float* wet, float* out, int c, int n, int delay, float feed)
{
    const int first = delay, second = delay + delay / 3 + 1, after = delay / 4 + 1;
    run_comb(x, wet, c, n, first, feed, false);
    run_comb(x, wet, c, n, second, feed, true);
    allpass<<<blocks((long long)c * after), 256>>>(wet, out, c, n, after);
}
