#include <cuda_pipeline.h>

// Log-likelihood of GARCH(1,1) for many sets of parameters over one series of returns. A thread has a set.
// The returns come through shared memory in two buffers: the next tile is under way while this one is worked on.

#define TILE 256

__global__ void __launch_bounds__(256) garch(const float* back, const float* omega, const float* alpha,
                                             const float* beta, float* score, int days, int sets)
{
    __shared__ float tile[2][TILE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = min(i, sets - 1);
    float w = omega[mine] + 0.0001f;
    float a = alpha[mine], b = beta[mine];
    float s = w;
    double sum = 0;

    int tiles = (days + TILE - 1) / TILE;
    auto fetch = [&](int which) {
        int at = which * TILE + threadIdx.x;
        if (at < days) __pipeline_memcpy_async(&tile[which % 2][threadIdx.x], &back[at], sizeof(float));
        __pipeline_commit();
    };
    if (tiles) fetch(0);
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) fetch(k + 1);
        // All but the newest are there.
        __pipeline_wait_prior(1);
        __syncthreads();
        int here = min(TILE, days - k * TILE);
        for (int t = 0; t < here; ++t) {
            float x = tile[k % 2][t];
            float square = x * x;
            sum += logf(s) + square / s;
            s = w + a * square + b * s;
        }
        __syncthreads();
    }
    if (i < sets) score[i] = (float)(-0.5 * sum);
}
