#include <cuda_runtime.h>
#include <cstdint>

// Points packed in shared tiles of 512 that all threads read alike; unsigned differences.
__global__ void diameter(const int16_t* __restrict__ xs, const int16_t* __restrict__ ys, long long* __restrict__ squared,
                         int* __restrict__ ends, int sets, int n)
{
    __shared__ int2 tile[512];
    const int16_t* x = xs + (size_t)blockIdx.x * n;
    const int16_t* y = ys + (size_t)blockIdx.x * n;
    long long best = 0;
    int bi = 0, bj = 0;
    for (int i0 = 0; i0 < n; i0 += 128) {
        int i = i0 + threadIdx.x;
        int px = i < n ? x[i] : 0, py = i < n ? y[i] : 0;
        for (int j0 = i0 / 512 * 512; j0 < n; j0 += 512) {
            int count = min(512, n - j0);
            __syncthreads();
            for (int k = threadIdx.x; k < count; k += 128)
                tile[k] = make_int2(x[j0 + k], y[j0 + k]);
            __syncthreads();
            if (i < n)
                for (int k = max(0, i + 1 - j0); k < count; ++k) {
                    unsigned dx = (unsigned)abs(px - tile[k].x), dy = (unsigned)abs(py - tile[k].y);
                    long long d = (long long)((unsigned long long)(dx * dx) + dy * dy);
                    if (d > best) {
                        best = d;
                        bi = i;
                        bj = j0 + k;
                    }
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
