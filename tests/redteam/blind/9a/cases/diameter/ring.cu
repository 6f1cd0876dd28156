#include <cuda_runtime.h>
#include <cstdint>

// A point can only be an end if it is far enough from the middle m of the box: |pq| <= |pm| + |mq|, and the distance of
// the extreme points is a lower bound. The radii carry a margin for their rounding.
__global__ void diameter(const int16_t* __restrict__ xs, const int16_t* __restrict__ ys, long long* __restrict__ squared,
                         int* __restrict__ ends, int sets, int n)
{
    __shared__ long long keys[4];
    __shared__ int extreme[8];
    const int16_t* x = xs + (size_t)blockIdx.x * n;
    const int16_t* y = ys + (size_t)blockIdx.x * n;
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
    long long bound = 0;                        // the diameter is at least this
    for (int a = 0; a < 8; ++a)
        for (int b = 0; b < a; ++b) {
            long long dx = x[extreme[a]] - x[extreme[b]], dy = y[extreme[a]] - y[extreme[b]];
            bound = max(bound, dx * dx + dy * dy);
        }

    // twice the middle, so that it stays an integer
    int mx = x[extreme[0]] + x[extreme[4]], my = y[extreme[1]] + y[extreme[5]];
    double rim = 0;
    {
        // no point is farther from the middle than half the diagonal of the box
        double wx = x[extreme[0]] - x[extreme[4]], wy = y[extreme[1]] - y[extreme[5]];
        rim = sqrt(wx * wx + wy * wy);
    }
    double limit = 2.0 * sqrt((double)bound) - rim - 1e-3;
    long long best = 0;
    int bi = 0, bj = 0;
    for (int i = threadIdx.x; i < n; i += 128) {
        double ux = 2 * x[i] - mx, uy = 2 * y[i] - my;
        double reach = sqrt(ux * ux + uy * uy);
        if (reach < limit)
            continue;
        for (int j = i + 1; j < n; ++j) {
            long long dx = x[i] - x[j];
            long long dy = y[i] - y[j];
            long long d = dx * dx + dy * dy;
            if (d > best) {
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
