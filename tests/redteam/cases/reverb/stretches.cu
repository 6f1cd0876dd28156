// A plain reverberator for c channels of n samples: two feedback combs side by side, added up (wet),
// and an all-pass after them (out).
//   comb:     y[t] = x[t] + feed * y[t-D]             D = delay, and delay + delay/3 + 1
//   all-pass: v[t] = -w[t]/2 + w[t-E] + v[t-E]/2      E = delay/4 + 1
// Samples D apart form a chain of their own.  Chains are cut into stretches of 32 samples, one thread each: a first
// launch runs every stretch from silence and keeps where it ends, a second one works out from these ends where
// the stretch really begins (each stretch passed fades by feed^32) and runs it again.
#include <cuda_runtime.h>

#define LEN 32

__global__ void ends(const float* __restrict__ x, float* __restrict__ end, int c, int n, int D, int parts, float feed)
{
    const long long id = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (id >= (long long)c * parts * D) return;
    const int r = (int)(id % D), s = (int)(id / D % parts), ch = (int)(id / D / parts);
    const float* p = x + (size_t)ch * n;
    float y = 0.f;
    long long t = r + (long long)s * LEN * D;
    for (int i = 0; i < LEN && t < n; i++, t += D) y = p[t] + feed * y;
    end[id] = y;
}

__global__ void comb(const float* __restrict__ x, const float* __restrict__ end, float* __restrict__ wet,
                     int c, int n, int D, int parts, float feed, bool add)
{
    const long long id = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (id >= (long long)c * parts * D) return;
    const int r = (int)(id % D), s = (int)(id / D % parts), ch = (int)(id / D / parts);
    const float* p = x + (size_t)ch * n;
    float* q = wet + (size_t)ch * n;
    float fade = feed;
    for (int i = 1; i < LEN; i *= 2) fade *= fade;
    float y = 0.f;
    const float* e = end + (size_t)ch * parts * D + r;
    for (int j = 0; j < s; j++) y = e[(size_t)j * D] + fade * y;
    long long t = r + (long long)s * LEN * D;
    for (int i = 0; i < LEN && t < n; i++, t += D) {
        y = p[t] + feed * y;
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

static void run_comb(const float* x, float* wet, int c, int n, int D, float feed, bool add)
{
    const int parts = (int)((n + (long long)LEN * D - 1) / ((long long)LEN * D));
    const long long threads = (long long)c * parts * D;
    float* end;
    cudaMallocAsync((void**)&end, threads * sizeof(float), 0);
    ends<<<blocks(threads), 256>>>(x, end, c, n, D, parts, feed);
    comb<<<blocks(threads), 256>>>(x, end, wet, c, n, D, parts, feed, add);
    cudaFreeAsync(end, 0);
}

extern "C" void reverb(const float* x, float* wet, float* out, int c, int n, int delay, float feed)
{
    const int first = delay, second = delay + delay / 3 + 1, after = delay / 4 + 1;
    run_comb(x, wet, c, n, first, feed, false);
    run_comb(x, wet, c, n, second, feed, true);
    allpass<<<blocks((long long)c * after), 256>>>(wet, out, c, n, after);
}
