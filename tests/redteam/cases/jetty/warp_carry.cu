// Ships come to a jetty with one crane. gap[i] is the time between the arrivals of ship i-1 and ship i, crane[i] the time the
// crane needs for ship i. wait[0] = 0, wait[i] = max(0, wait[i-1] + crane[i-1] - gap[i])  (Lindley's recursion).
// Each step is w -> max(w + a, b); two steps one after the other are again of that form.
#include <cuda_runtime.h>
#include <cmath>

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

__global__ void totals(const int* __restrict__ gap, const int* __restrict__ crane, Step* __restrict__ total, int n) {
    __shared__ Step buf[256];
    int first = blockIdx.x * 1024 + threadIdx.x * 4;
    Step s = step_of(gap, crane, first, n);
    for (int k = 1; k < 4; ++k) s = then(s, step_of(gap, crane, first + k, n));
    s = block_scan(s, buf);
    if (threadIdx.x == 255) total[blockIdx.x] = s;
}

struct Quick {
    float a, b;
};

__device__ __forceinline__ Quick quick_then(Quick f, Quick g) {
    Quick h;
    h.a = f.a + g.a;
    h.b = fmaxf(f.b + g.a, g.b);
    return h;
}

__device__ __forceinline__ Quick quick_up(Quick s, int d) {
    Quick o;
    o.a = __shfl_up_sync(~0u, s.a, d);
    o.b = __shfl_up_sync(~0u, s.b, d);
    return o;
}

// One warp, in registers; tile totals are small whole numbers, which floats hold exactly.
// total[k] becomes everything that happens before tile k
__global__ void carry(Step* total, int tiles) {
    int lane = threadIdx.x;
    Quick run;
    run.a = 0.0f;
    run.b = -INFINITY;
    for (int at = 0; at < tiles; at += 32) {
        int k = at + lane;
        Quick s;
        s.a = 0.0f;
        s.b = -INFINITY;
        if (k < tiles && total[k].b > NONE / 2) {
            s.a = (float)total[k].a;
            s.b = (float)total[k].b;
        }
        for (int d = 1; d < 32; d *= 2) {
            Quick o = quick_up(s, d);
            if (lane >= d) s = quick_then(o, s);
        }
        Quick o = quick_up(s, 1);
        Quick before = lane > 0 ? quick_then(run, o) : run;
        if (k < tiles) {
            total[k].a = (long long)before.a;
            total[k].b = isinf(before.b) ? NONE : (long long)before.b;
        }
        Quick last;
        last.a = __shfl_sync(~0u, s.a, 31);
        last.b = __shfl_sync(~0u, s.b, 31);
        run = quick_then(run, last);
    }
}

__global__ void settle(const int* __restrict__ gap, const int* __restrict__ crane, const Step* __restrict__ total,
                       long long* __restrict__ wait, int n) {
    __shared__ Step buf[256];
    int first = blockIdx.x * 1024 + threadIdx.x * 4;
    Step mine[4];
    for (int k = 0; k < 4; ++k) mine[k] = step_of(gap, crane, first + k, n);
    Step s = then(then(mine[0], mine[1]), then(mine[2], mine[3]));
    block_scan(s, buf);
    Step before = total[blockIdx.x];
    if (threadIdx.x > 0) before = then(before, buf[threadIdx.x - 1]);
    long long w = before.a > before.b ? before.a : before.b;   // the first ship waits 0
    for (int k = 0; k < 4; ++k) {
        long long v = w + mine[k].a;
        w = v > mine[k].b ? v : mine[k].b;
        if (first + k < n) wait[first + k] = w;
    }
}

extern "C" void jetty(const int* gap, const int* crane, long long* wait, int n) {
    if (n <= 0) return;
    int tiles = (n + 1023) / 1024;
    Step* total;
    cudaMallocAsync((void**)&total, sizeof(Step) * (size_t)tiles, 0);
    totals<<<tiles, 256>>>(gap, crane, total, n);
    carry<<<1, 32>>>(total, tiles);
    settle<<<tiles, 256>>>(gap, crane, total, wait, n);
    cudaFreeAsync(total, 0);
}
