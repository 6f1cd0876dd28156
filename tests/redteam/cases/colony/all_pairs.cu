// Neighbourhood statistics of a colony: for each animal the number of others within `radius` (at most 64)
// and the sum of their weights. Positions are integers in a square of 4096 x 4096, binned into 64 x 64 cells.
#include <cuda_runtime.h>

// No cells: all pairs, 256 animals of the other side at a time in shared memory, two animals for each thread. The work
// is fixed whatever the positions are; a crowd in one cell costs nothing more.
#define TILE 256

__global__ void __launch_bounds__(TILE) pairs(const int* x, const int* y, const float* weight, int* count, float* load,
                                              int n, int radius)
{
    __shared__ int sx[TILE], sy[TILE];
    __shared__ float sw[TILE];
    int i0 = blockIdx.x * 2 * TILE + threadIdx.x, i1 = i0 + TILE, limit = radius * radius;
    int x0 = i0 < n ? x[i0] : 0, y0 = i0 < n ? y[i0] : 0, x1 = i1 < n ? x[i1] : 0, y1 = i1 < n ? y[i1] : 0;
    int c0 = 0, c1 = 0;
    float s0 = 0.0f, s1 = 0.0f;
    for (int j0 = 0; j0 < n; j0 += TILE) {
        int j = j0 + threadIdx.x;
        if (j < n) { sx[threadIdx.x] = x[j]; sy[threadIdx.x] = y[j]; sw[threadIdx.x] = weight[j]; }
        __syncthreads();
        int end = min(TILE, n - j0);
        for (int q = 0; q < end; ++q) {
            int a = sx[q] - x0, b = sy[q] - y0, c = sx[q] - x1, d = sy[q] - y1;
            if (a * a + b * b <= limit && j0 + q != i0) { ++c0; s0 += sw[q]; }
            if (c * c + d * d <= limit && j0 + q != i1) { ++c1; s1 += sw[q]; }
        }
        __syncthreads();
    }
    if (i0 < n) { count[i0] = c0; load[i0] = s0; }
    if (i1 < n) { count[i1] = c1; load[i1] = s1; }
}

extern "C" void colony(const int* x, const int* y, const float* weight, int* count, float* load, int n, int radius)
{
    pairs<<<(n + 2 * TILE - 1) / (2 * TILE), TILE>>>(x, y, weight, count, load, n, radius);
}
