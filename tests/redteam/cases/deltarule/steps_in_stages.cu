#include <cuda_runtime.h>

// Keys, queries and values of 64 steps at a time in shared memory, keys normed on the way.
#define DIM 64
#define STAGE 64

extern "C" __global__ void deltarule(const float* query, const float* key, const float* value,
                                     const float* beta, const float* gate, float* state,
                                     float* out, int steps) {
    extern __shared__ float staged[];
    float* k = staged;
    float* q = k + STAGE * DIM;
    float* v = q + STAGE * DIM;
    float* b = v + STAGE * DIM;
    float* g = b + STAGE;
    int j = threadIdx.x;
    size_t head = blockIdx.x;
    float column[DIM];
#pragma unroll
    for (int i = 0; i < DIM; i++) {
        column[i] = state[(head * DIM + i) * DIM + j];
    }
    for (int from = 0; from < steps; from += STAGE) {
        int here = min(STAGE, steps - from);
        size_t row = head * steps + from;
        __syncthreads();
        for (int s = 0; s < here; s++) {
            k[s * DIM + j] = key[(row + s) * DIM + j];
            q[s * DIM + j] = query[(row + s) * DIM + j] * 0.125f;
            v[s * DIM + j] = value[(row + s) * DIM + j];
        }
        if (j < here) {
            b[j] = beta[row + j];
            g[j] = gate[row + j];
        }
        __syncthreads();
        // A thread a step: its key's norm.
        if (j < here) {
            float square = 0.0f;
            for (int i = 0; i < DIM; i++) {
                float x = k[j * DIM + (i + j) % DIM];
                square += x * x;
            }
            float norm = 1.0f / (sqrtf(square) + 1e-6f);
            for (int i = 0; i < DIM; i++) {
                k[j * DIM + (i + j) % DIM] *= norm;
            }
        }
        __syncthreads();
        for (int s = 0; s < here; s++) {
            float held = 0.0f;
            float fade = g[s];
#pragma unroll
            for (int i = 0; i < DIM; i++) {
                column[i] *= fade;
                held += column[i] * k[s * DIM + i];
            }
            float move = b[s] * (v[s * DIM + j] - held);
            float read = 0.0f;
#pragma unroll
            for (int i = 0; i < DIM; i++) {
                column[i] += k[s * DIM + i] * move;
                read += column[i] * q[s * DIM + i];
            }
            out[(row + s) * DIM + j] = read;
        }
    }
#pragma unroll
    for (int i = 0; i < DIM; i++) {
        state[(head * DIM + i) * DIM + j] = column[i];
    }
}
