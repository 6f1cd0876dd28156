// Ships come to a jetty with one crane. gap[i] is the time between the arrivals of ship i-1 and ship i, crane[i] the time the
// crane needs for ship i. wait[0] = 0, wait[i] = max(0, wait[i-1] + crane[i-1] - gap[i])  (Lindley's recursion).
// Reflected walk: with S the running sum of crane[i-1] - gap[i], wait[i] = S[i] - min(S[0..i]). a: sum, b: least running sum.
#include <cuda_runtime.h>

struct Step {
    long long a, b;
};

__device__ __forceinline__ Step then(Step f, Step g) {   // first f, then g
    Step h;
    h.a = f.a + g.a;
    long long gb = f.a + g.b;
    h.b = gb < f.b ? gb : f.b;
    return h;
}

__device__ __forceinline__ Step step_of(const int* gap, const int* crane, int i, int n) {
    Step s;
    s.a = 0;
    s.b = 0;
    if (i > 0 && i < n) {
        s.a = (long long)crane[i - 1] - gap[i];
        s.b = s.a;
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

// one block: total[k] becomes everything that happens before tile k
__global__ void carry(Step* total, int tiles) {
    __shared__ Step buf[256];
    Step run;
    run.a = 0;
    run.b = 0;
    for (int at = 0; at < tiles; at += 256) {
        int k = at + threadIdx.x;
        Step s;
        s.a = 0;
        s.b = 0;
        if (k < tiles) s = total[k];
        block_scan(s, buf);
        Step before = run;
        if (threadIdx.x > 0) before = then(run, buf[threadIdx.x - 1]);
        if (k < tiles) total[k] = before;
        run = then(run, buf[255]);
        __syncthreads();
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
    for (int k = 0; k < 4; ++k) {
        before = then(before, mine[k]);
        if (first + k < n) wait[first + k] = before.a - before.b;
    }
}

extern "C" void jetty(const int* gap, const int* crane, long long* wait, int n) {
    if (n <= 0) return;
    int tiles = (n + 1023) / 1024;
    Step* total;
    cudaMallocAsync((void**)&total, sizeof(Step) * (size_t)tiles, 0);
    totals<<<tiles, 256>>>(gap, crane, total, n);
    carry<<<1, 256>>>(total, tiles);
    settle<<<tiles, 256>>>(gap, crane, total, wait, n);
    cudaFreeAsync(total, 0);
}
