// A warp for a point, its lanes for the points after it; ties go to the smaller i.
#define BLOCKS 264

struct Found {
    unsigned long long d;
    int i, j;
};

__device__ unsigned done;
__device__ Found found[BLOCKS];

__device__ __forceinline__ bool before(const Found& a, const Found& b) {
    return a.d < b.d || (a.d == b.d && a.i < b.i);
}

__device__ Found first_of_warp(Found f) {
    for (int k = 16; k > 0; k /= 2) {
        Found o;
        o.d = __shfl_down_sync(0xffffffffu, f.d, k);
        o.i = __shfl_down_sync(0xffffffffu, f.i, k);
        o.j = __shfl_down_sync(0xffffffffu, f.j, k);
        if (before(o, f)) f = o;
    }
    return f;
}

__global__ void closest(const int* __restrict__ px, const int* __restrict__ py, int* __restrict__ pair,
                        long long* __restrict__ apart, int n) {
    __shared__ Found warps[8];
    __shared__ bool last;
    const unsigned long long none = ~0ull;
    int t = threadIdx.x, lane = t % 32;
    Found f = {none, -1, -1};
    for (int i = blockIdx.x * 8 + t / 32; i < n; i += 8 * BLOCKS) {
        long long x = px[i], y = py[i];
        for (int j = i + 1 + lane; j < n; j += 32) {
            long long dx = x - px[j], dy = y - py[j];
            unsigned long long q = dx * dx + dy * dy;
            if (q < f.d) f = {q, i, j};
        }
    }
    f = first_of_warp(f);
    if (lane == 0) warps[t / 32] = f;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 8; ++k)
            if (before(warps[k], f)) f = warps[k];
        found[blockIdx.x] = f;
        __threadfence();
        last = atomicInc(&done, BLOCKS - 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (!last || t >= 32) return;
    __threadfence();
    f = {none, -1, -1};
    for (int k = t; k < BLOCKS; k += 32) {
        Found o;
        o.d = __ldcg(&found[k].d);
        o.i = __ldcg(&found[k].i);
        o.j = __ldcg(&found[k].j);
        if (before(o, f)) f = o;
    }
    f = first_of_warp(f);
    if (t == 0) {
        pair[0] = f.d == none ? -1 : f.i;
        pair[1] = f.d == none ? -1 : f.j;
        apart[0] = (long long)f.d;
    }
}
