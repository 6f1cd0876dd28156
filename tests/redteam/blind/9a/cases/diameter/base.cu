// Diameter of sets of points: the farthest pair of each set, one block of 128 threads a set.
#include <cuda_runtime.h>
#include <cstdint>

// squared: square of the largest distance; ends: the two points, the first such pair in the order of (i, j), i < j;
// 0 and (0, 0) where all points are the same
__global__ void diameter(const int16_t* xs, const int16_t* ys, long long* squared, int* ends, int sets, int n)
{
    const int16_t* x = xs + (size_t)blockIdx.x * n;
    const int16_t* y = ys + (size_t)blockIdx.x * n;
    long long best = 0;
    int bi = 0, bj = 0;
    for (int i = threadIdx.x; i < n; i += 128) {
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
