#include <cuda_pipeline.h>

#define CHUNK 512

// A block for a row. Copies of 16 bytes where the row allows it.
__global__ void crest(const float* __restrict__ x, float* __restrict__ out, int rows, int cols) {
    __shared__ __align__(16) float tile[2][CHUNK];
    __shared__ float tops[4], sums[4];
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    bool wide = ((size_t)row & 15) == 0;
    auto fetch = [&](int c0, int turn) {
        int c = c0 + 4 * t;
        if (wide && c + 4 <= cols) {
            __pipeline_memcpy_async(&tile[turn][4 * t], row + c, 16);
        } else {
            for (int k = 0; k < 4; ++k)
                if (c + k < cols) __pipeline_memcpy_async(&tile[turn][4 * t + k], row + c + k, 4);
        }
        __pipeline_commit();
    };
    float top = 0.f, s = 0.f;
    fetch(0, 0);
    for (int c0 = 0, turn = 0; c0 < cols; c0 += CHUNK, turn ^= 1) {
        fetch(c0 + CHUNK, turn ^ 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = t; k < CHUNK && c0 + k < cols; k += 128) {
            float v = tile[turn][k];
            top = fmaxf(top, fabsf(v));
            s = fmaf(v, v, s);
        }
        __syncthreads();
    }
    for (int d = 16; d > 0; d /= 2) {
        top = fmaxf(top, __shfl_down_sync(0xffffffffu, top, d));
        s += __shfl_down_sync(0xffffffffu, s, d);
    }
    if (t % 32 == 0) {
        tops[t / 32] = top;
        sums[t / 32] = s;
    }
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 4; ++k) {
            top = fmaxf(top, tops[k]);
            s += sums[k];
        }
        out[blockIdx.x] = s > 0.f ? top / sqrtf(s / cols) : 0.f;
    }
}
