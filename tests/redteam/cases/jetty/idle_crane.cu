// Ships come to a jetty with one crane. gap[i] is the time between the arrivals of ship i-1 and ship i, crane[i] the time the
// crane needs for ship i. wait[0] = 0, wait[i] = max(0, wait[i-1] + crane[i-1] - gap[i])  (Lindley's recursion).
// Each step is w -> max(w + a, b); two steps one after the other are again of that form.
#include <cuda_runtime.h>

constexpr int LEAD = 8192;

// Every block serves its own 1024 ships. The crane is idle over and over again and whatever was before an idle moment is forgotten, so
// a block runs through the 8192 ships ahead of its own, which contain one, and needs nothing from the other blocks.
struct Step {
    long long a, b;
};

__device__ __forceinline__ Step then(Step f, Step g) {   // first f, then g
    Step h;
    h.a = f.a + g.a;
    long long fb = f.b + g.a;
    h.b = fb > g.b ? fb : g.b;
    return h;
}

constexpr long long NONE = -(1ll << 60);

__device__ __forceinline__ Step step_of(const int* gap, const int* crane, int i, int n) {
    Step s;
    s.a = 0;
    s.b = NONE;
    if (i > 0 && i < n) {
        s.a = (long long)crane[i - 1] - gap[i];
        s.b = 0;
    }
    return s;
}

// inclusive scan over the 256 threads of a block
__device__ Step block_scan(Step s, Step* buf) {
    int t = threadIdx.x;
    buf[t] = s;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        Step o;
        bool has = t >= d;
        if (has) o = buf[t - d];
        __syncthreads();
        if (has) {
            s = then(o, s);
            buf[t] = s;
        }
        __syncthreads();
    }
    return s;
}

__global__ void settle(const int* __restrict__ gap, const int* __restrict__ crane, long long* __restrict__ wait, int n) {
    __shared__ Step buf[256];
    int own = blockIdx.x * 1024;
    long long w = 0;
    for (int base = own > LEAD ? own - LEAD : 0; base <= own; base += 1024) {
        int first = base + threadIdx.x * 4;
        Step mine[4];
        for (int k = 0; k < 4; ++k) mine[k] = step_of(gap, crane, first + k, n);
        Step s = then(then(mine[0], mine[1]), then(mine[2], mine[3]));
        block_scan(s, buf);
        long long x = w;
        if (threadIdx.x > 0) {
            Step b = buf[threadIdx.x - 1];
            x = w + b.a > b.b ? w + b.a : b.b;
        }
        if (base == own)
            for (int k = 0; k < 4; ++k) {
                long long v = x + mine[k].a;
                x = v > mine[k].b ? v : mine[k].b;
                if (first + k < n) wait[first + k] = x;
            }
        Step all = buf[255];
        w = w + all.a > all.b ? w + all.a : all.b;
        __syncthreads();
    }
}

extern "C" void jetty(const int* gap, const int* crane, long long* wait, int n) {
    if (n <= 0) return;
    settle<<<(n + 1023) / 1024, 256>>>(gap, crane, wait, n);
}
