// A plain reverberator for c channels of n samples: two feedback combs side by side, added up (wet),
// and an all-pass after them (out).
//   comb:     y[t] = x[t] + feed * y[t-D]             D = delay, and delay + delay/3 + 1
//   all-pass: v[t] = -w[t]/2 + w[t-E] + v[t-E]/2      E = delay/4 + 1
// The feedback has died away after 48 echoes (0.7^48 = 4e-8, below a float's last bit), so every sample of a comb
// is a sum of its own; the all-pass keeps one thread per chain.
#include <cuda_runtime.h>

#define ECHOES 48

__global__ void comb(const float* __restrict__ x, float* __restrict__ wet, int c, int n, int D, float feed, bool add)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    for (int ch = blockIdx.y; ch < c; ch += gridDim.y) {
        const float* p = x + (size_t)ch * n;
        float* q = wet + (size_t)ch * n;
        const int from = t / D < ECHOES ? t % D : t - ECHOES * D;
        float y = 0.f;
        for (int s = from; s <= t; s += D) y = p[s] + feed * y;
        q[t] = add ? q[t] + y : y;
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

extern "C" void reverb(const float* x, float* wet, float* out, int c, int n, int delay, float feed)
{
    const int first = delay, second = delay + delay / 3 + 1, after = delay / 4 + 1;
    const dim3 all(blocks(n), c < 1024 ? c : 1024);
    comb<<<all, 256>>>(x, wet, c, n, first, feed, false);
    comb<<<all, 256>>>(x, wet, c, n, second, feed, true);
    allpass<<<blocks((long long)c * after), 256>>>(wet, out, c, n, after);
}
