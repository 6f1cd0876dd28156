#include <cuda_runtime.h>

// Four lanes a column, sixteen rows each; two buffers, so that a step takes one barrier.
#define DIM 64

extern "C" __global__ void deltarule(const float* query, const float* key, const float* value,
                                     const float* beta, const float* gate, float* state,
                                     float* out, int steps) {
    __shared__ float k[2][DIM];
    __shared__ float q[2][DIM];
    int j = threadIdx.x >> 2;
    int part = threadIdx.x & 3;
    size_t head = blockIdx.x;
    float column[16];
    for (int i = 0; i < 16; i++) {
        column[i] = state[(head * DIM + 4 * i + part) * DIM + j];
    }
    for (int t = 0; t < steps; t++) {
        size_t row = head * steps + t;
        int b = t & 1;
        if (threadIdx.x < DIM) {
            k[b][threadIdx.x] = key[row * DIM + threadIdx.x];
        } else if (threadIdx.x < 2 * DIM) {
            q[b][threadIdx.x - DIM] = query[row * DIM + threadIdx.x - DIM];
        }
        __syncthreads();
        float fade = gate[row];
        float own[16];
        float square = 0.0f;
#pragma unroll
        for (int i = 0; i < 16; i++) {
            own[i] = k[b][4 * i + part];
            square += own[i] * own[i];
        }
        for (int d = 1; d < 4; d *= 2) {
            square += __shfl_xor_sync(0xffffffffu, square, d);
        }
        float norm = 1.0f / (sqrtf(square) + 1e-6f);
        float held = 0.0f;
#pragma unroll
        for (int i = 0; i < 16; i++) {
            own[i] *= norm;
            column[i] *= fade;
            held += column[i] * own[i];
        }
        for (int d = 1; d < 4; d *= 2) {
            held += __shfl_xor_sync(0xffffffffu, held, d);
        }
        float move = beta[row] * (value[row * DIM + j] - held);
        float read = 0.0f;
#pragma unroll
        for (int i = 0; i < 16; i++) {
            column[i] += own[i] * move;
            read += column[i] * q[b][4 * i + part];
        }
        for (int d = 1; d < 4; d *= 2) {
            read += __shfl_xor_sync(0xffffffffu, read, d);
        }
        if (part == 0) {
            out[row * DIM + j] = read * 0.125f;
        }
    }
    for (int i = 0; i < 16; i++) {
        state[(head * DIM + 4 * i + part) * DIM + j] = column[i];
    }
}
