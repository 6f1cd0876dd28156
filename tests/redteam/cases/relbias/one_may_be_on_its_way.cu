#include <cuda_pipeline.h>

// Of 64 rows the 32 numbers from c0 on, on their way to shared memory; nought where there are none.
__device__ void sent(float* to, const float* from, size_t first, size_t rows, size_t c0, size_t d) {
    for (int s = threadIdx.x; s < 64 * 32; s += 256) {
        size_t r = s / 32, c = s % 32;
        if (first + r < rows && c0 + c < d)
            __pipeline_memcpy_async(to + r * 33 + c, from + (first + r) * d + c0 + c, sizeof(float));
        else
            to[r * 33 + c] = 0.f;
    }
}

// Scores of queries and keys before a softmax: their products, and a bias for how far apart they are, which is the same
// from `span` places on. A block has 64 queries and 64 keys; while 32 numbers of each are multiplied the next are on
// their way. A thread has four times four of the scores.
__global__ void relbias(const float* q, const float* k, const float* bias, float* out, int m, int n, int d, int span) {
    __shared__ float a[2][64 * 33], b[2][64 * 33];
    int t = threadIdx.x, x = t % 16, y = t / 16, turn = 0;
    size_t wide = ((size_t)n + 63) / 64, top = blockIdx.x / wide * 64, left = blockIdx.x % wide * 64;
    float sum[4][4] = {};
    sent(a[0], q, top, m, 0, d);
    sent(b[0], k, left, n, 0, d);
    __pipeline_commit();
    for (size_t c0 = 0; c0 < d; c0 += 32, turn ^= 1) {
        if (c0 + 32 < d) {
            sent(a[turn ^ 1], q, top, m, c0 + 32, d);
            sent(b[turn ^ 1], k, left, n, c0 + 32, d);
            __pipeline_commit();
        }
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll 8
        for (int c = 0; c < 32; ++c) {
            float u[4], v[4];
#pragma unroll
            for (int o = 0; o < 4; ++o) {
                u[o] = a[turn][(y + 16 * o) * 33 + c];
                v[o] = b[turn][(x + 16 * o) * 33 + c];
            }
#pragma unroll
            for (int r = 0; r < 4; ++r)
#pragma unroll
                for (int s = 0; s < 4; ++s)
                    if (c0 + c < d) sum[r][s] += u[r] * v[s];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            size_t i = top + y + 16 * r, j = left + x + 16 * s;
            if (i >= m || j >= n) continue;
            long long apart = min(max((long long)j - (long long)i, -(long long)span), (long long)span);
            out[i * n + j] = sum[r][s] + bias[apart + span];
        }
}
