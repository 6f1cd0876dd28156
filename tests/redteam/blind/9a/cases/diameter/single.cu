#include <cuda_runtime.h>
#include <cstdint>

// The pairs are compared in single precision (one multiply-add each), the square of the winner is taken exactly.
__global__ void diameter(const int16_t* __restrict__ xs, const int16_t* __restrict__ ys, long long* __restrict__ squared,
                         int* __restrict__ ends, int sets, int n)
{
    const int16_t* x = xs + (size_t)blockIdx.x * n;
    const int16_t* y = ys + (size_t)blockIdx.x * n;
    float most = 0.0f;
    int bi = 0, bj = 0;
    for (int i = threadIdx.x; i < n; i += 128) {
        float px = x[i], py = y[i];
        for (int j = i + 1; j < n; ++j) {
            float dx = px - (float)x[j], dy = py - (float)y[j];
            float d = fmaf(dx, dx, dy * dy);
            if (d > most) {
                most = d;
                bi = i;
                bj = j;
            }
        }
    }
    long long ex = x[bi] - x[bj], ey = y[bi] - y[bj];
    long long best = ex * ex + ey * ey;
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
