#include <cuda_runtime.h>

// A block a head and 128 steps. What the memory holds at the first of them it gets from the 128
// steps before: the gates leave nothing of what is older.
#define DIM 64
#define PART 128

extern "C" __global__ void deltarule(const float* query, const float* key, const float* value,
                                     const float* beta, const float* gate, float* state,
                                     float* out, int steps) {
    __shared__ float k[2][DIM];
    __shared__ float q[2][DIM];
    int j = threadIdx.x >> 2;
    int part = threadIdx.x & 3;
    size_t head = blockIdx.x;
    int first = blockIdx.y * PART;
    int end = min(first + PART, steps);
    int from = max(first - PART, 0);
    float column[16];
    for (int i = 0; i < 16; i++) {
        column[i] = from == 0 ? state[(head * DIM + 4 * i + part) * DIM + j] : 0.0f;
    }
    for (int t = from; t < end; t++) {
        size_t row = head * steps + t;
        int b = t & 1;
        if (threadIdx.x < DIM) {
            k[b][threadIdx.x] = key[row * DIM + threadIdx.x];
        } else if (threadIdx.x < 2 * DIM) {
            q[b][threadIdx.x - DIM] = query[row * DIM + threadIdx.x - DIM];
        }
        __syncthreads();
        float fade = gate[row];
        float square = 0.0f;
        float held = 0.0f;
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float key_here = k[b][4 * i + part];
            square += key_here * key_here;
            column[i] *= fade;
            held += column[i] * key_here;
        }
        for (int d = 1; d < 4; d *= 2) {
            square += __shfl_xor_sync(0xffffffffu, square, d);
            held += __shfl_xor_sync(0xffffffffu, held, d);
        }
        float norm = 1.0f / (sqrtf(square) + 1e-6f);
        float move = beta[row] * (value[row * DIM + j] - held * norm) * norm;
        float read = 0.0f;
#pragma unroll
        for (int i = 0; i < 16; i++) {
            column[i] += k[b][4 * i + part] * move;
            read += column[i] * q[b][4 * i + part];
        }
        for (int d = 1; d < 4; d *= 2) {
            read += __shfl_xor_sync(0xffffffffu, read, d);
        }
        if (part == 0 && t >= first) {
            out[row * DIM + j] = read * 0.125f;
        }
    }
    if (end == steps) {
        for (int i = 0; i < 16; i++) {
            state[(head * DIM + 4 * i + part) * DIM + j] = column[i];
        }
    }
}
