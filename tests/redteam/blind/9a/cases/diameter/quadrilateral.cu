#include <cuda_runtime.h>
#include <cstdint>

// Points strictly inside the quadrilateral of the extreme points in x and y are no corners of the hull: no ends.
// What is left is listed in shared memory (in any order) and compared there; too many: all pairs as before.
__global__ void diameter(const int16_t* __restrict__ xs, const int16_t* __restrict__ ys, long long* __restrict__ squared,
                         int* __restrict__ ends, int sets, int n)
{
    constexpr int kRoom = 1024;
    __shared__ int listed[kRoom];
    __shared__ int used;
    __shared__ long long keys[4];
    __shared__ int extreme[8];
    const int16_t* x = xs + (size_t)blockIdx.x * n;
    const int16_t* y = ys + (size_t)blockIdx.x * n;
    if (threadIdx.x == 0)
        used = 0;
    // extreme points in eight directions: the largest value, then the smallest index
    for (int q = 0; q < 8; ++q) {
        long long key = -(1ll << 62);
        for (int i = threadIdx.x; i < n; i += 128) {
            int v = (q & 3) == 0 ? x[i] : (q & 3) == 1 ? y[i] : (q & 3) == 2 ? x[i] + y[i] : x[i] - y[i];
            if (q & 4)
                v = -v;
            key = max(key, (long long)v * (1ll << 32) + (0x7fffffff - i));
        }
        for (int o = 16; o; o >>= 1)
            key = max(key, __shfl_xor_sync(~0u, key, o));
        if ((threadIdx.x & 31) == 0)
            keys[threadIdx.x >> 5] = key;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int k = 1; k < 4; ++k)
                key = max(key, keys[k]);
            extreme[q] = 0x7fffffff - (int)(key & 0xffffffffll);
        }
        __syncthreads();
    }
    // counter-clockwise: right, top, left, bottom
    int q[4] = {extreme[0], extreme[1], extreme[4], extreme[5]};
    for (int i = threadIdx.x; i < n; i += 128) {
        bool inside = true;
        for (int k = 0; k < 4; ++k) {
            int a = q[k], b = q[(k + 1) & 3];
            long long cross = (long long)(x[b] - x[a]) * (y[i] - y[a]) - (long long)(y[b] - y[a]) * (x[i] - x[a]);
            inside = inside && cross > 0;
        }
        if (!inside) {
            int at = atomicAdd(&used, 1);
            if (at < kRoom)
                listed[at] = i;
        }
    }
    __syncthreads();
    int count = used;
    bool all = count > kRoom;
    if (all)
        count = n;
    long long best = 0;
    int bi = 0, bj = 0;
    for (int a = threadIdx.x; a < count; a += 128) {
        int p = all ? a : listed[a];
        for (int b = a + 1; b < count; ++b) {
            int r = all ? b : listed[b];
            long long dx = x[p] - x[r], dy = y[p] - y[r];
            long long d = dx * dx + dy * dy;
            if (d == 0 || d < best)
                continue;
            int i = min(p, r), j = max(p, r);
            if (d > best || i < bi || (i == bi && j < bj)) {
                best = d;
                bi = i;
                bj = j;
            }
        }
    }
    __shared__ long long far_d[128];
    __shared__ int far_i[128], far_j[128];
    int me = threadIdx.x;
    far_d[me] = best;
    far_i[me] = bi;
    far_j[me] = bj;
    __syncthreads();
    for (int o = 64; o > 0; o >>= 1) {
        if (me < o) {
            long long d = far_d[me + o];
            int i = far_i[me + o], j = far_j[me + o];
            if (d > far_d[me] || (d == far_d[me] && (i < far_i[me] || (i == far_i[me] && j < far_j[me])))) {
                far_d[me] = d;
                far_i[me] = i;
                far_j[me] = j;
            }
        }
        __syncthreads();
    }
    if (me == 0) {
        squared[blockIdx.x] = far_d[0];
        ends[2 * blockIdx.x] = far_i[0];
        ends[2 * blockIdx.x + 1] = far_j[0];
    }
}
