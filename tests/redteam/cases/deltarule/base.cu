#include <cuda_runtime.h>

// Linear attention with the gated delta rule, one block a head, heads of 64 by 64: at every step
// the memory fades by `gate`, what it holds under the (normed) key is moved towards the value by
// `beta` (both between 0 and 1), and the query reads it. state is where the memory stood and is left
// for the next call.
#define DIM 64

extern "C" __global__ void deltarule(const float* query, const float* key, const float* value,
                                     const float* beta, const float* gate, float* state,
                                     float* out, int steps) {
    __shared__ float k[DIM];
    __shared__ float q[DIM];
    int j = threadIdx.x;
    size_t head = blockIdx.x;
    float column[DIM];
    for (int i = 0; i < DIM; i++) {
        column[i] = state[(head * DIM + i) * DIM + j];
    }
    for (int t = 0; t < steps; t++) {
        size_t row = head * steps + t;
        k[j] = key[row * DIM + j];
        q[j] = query[row * DIM + j];
        __syncthreads();
        float square = 0.0f;
        for (int i = 0; i < DIM; i++) {
            square += k[i] * k[i];
        }
        float norm = 1.0f / (sqrtf(square) + 1e-6f);
        float fade = gate[row];
        float held = 0.0f;
        for (int i = 0; i < DIM; i++) {
            column[i] *= fade;
            held += column[i] * (k[i] * norm);
        }
        float move = beta[row] * (value[row * DIM + j] - held);
        float read = 0.0f;
        for (int i = 0; i < DIM; i++) {
            column[i] += k[i] * norm * move;
            read += column[i] * q[i];
        }
        out[row * DIM + j] = read * 0.125f;
        __syncthreads();
    }
    for (int i = 0; i < DIM; i++) {
        state[(head * DIM + i) * DIM + j] = column[i];
    }
}
