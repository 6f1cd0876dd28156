// Ships come to a jetty with one crane. gap[i] is the time between the arrivals of ship i-1 and ship i, crane[i] the time the
// crane needs for ship i. wait[0] = 0, wait[i] = max(0, wait[i-1] + crane[i-1] - gap[i])  (Lindley's recursion).
// Each step is w -> max(w + a, b); two steps one after the other are again of that form.
#include <cuda_runtime.h>

// One pass over the ships: a tile takes a ticket, publishes its own effect, then looks back tile by tile until it meets one that
// already knows everything before it.
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

struct Port {
    Step own;    // the tile alone
    Step upto;   // everything up to the end of the tile
};

__device__ __forceinline__ Step fetch(const Step* p) {
    Step s;
    s.a = __ldcg(&p->a);
    s.b = __ldcg(&p->b);
    return s;
}

__global__ void settle(const int* __restrict__ gap, const int* __restrict__ crane, Port* port, int* state, long long* __restrict__ wait,
                       int n) {
    __shared__ Step buf[256];
    __shared__ Step ahead;
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(state, 1);
    __syncthreads();
    int tile = ticket;
    volatile int* flag = state + 1;
    int first = tile * 1024 + threadIdx.x * 4;
    Step mine[4];
    for (int k = 0; k < 4; ++k) mine[k] = step_of(gap, crane, first + k, n);
    Step s = then(then(mine[0], mine[1]), then(mine[2], mine[3]));
    block_scan(s, buf);
    if (threadIdx.x == 0) {
        Step all = buf[255];
        port[tile].own = all;
        __threadfence();
        flag[tile] = 1;
        Step before;
        before.a = 0;
        before.b = NONE;
        for (int k = tile - 1; k >= 0; --k) {
            int f;
            do {
                f = flag[k];
            } while (f == 0);
            __threadfence();
            if (f == 2) {
                before = then(fetch(&port[k].upto), before);
                break;
            }
            before = then(fetch(&port[k].own), before);
        }
        port[tile].upto = then(before, all);
        __threadfence();
        flag[tile] = 2;
        ahead = before;
    }
    __syncthreads();
    Step before = ahead;
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
    Port* port;
    int* state;
    cudaMallocAsync((void**)&port, sizeof(Port) * (size_t)tiles, 0);
    cudaMallocAsync((void**)&state, sizeof(int) * (size_t)(tiles + 1), 0);
    cudaMemsetAsync(state, 0, sizeof(int) * (size_t)(tiles + 1), 0);
    settle<<<tiles, 256>>>(gap, crane, port, state, wait, n);
    cudaFreeAsync(port, 0);
    cudaFreeAsync(state, 0);
}
