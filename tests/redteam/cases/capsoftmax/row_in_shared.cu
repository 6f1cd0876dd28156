// Soft-capped softmax; the capped row is kept in shared memory: one read of the logits, one tanhf each.
#include <cuda_runtime.h>
#include <math_constants.h>

#define ROW 4096

extern "C" __global__ void capsoftmax(const float* __restrict__ logits, const int* __restrict__ valid,
                                      float* __restrict__ probs, int rows, int cols, float cap) {
    __shared__ float z[ROW];
    __shared__ float red[2][4];
    const int row = blockIdx.x;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float* in = logits + (size_t)row * cols;
    float* out = probs + (size_t)row * cols;
    const int len = min(max(valid[row], 0), cols);

    float top = -CUDART_INF_F;
    for (int c = threadIdx.x; c < len; c += blockDim.x) {
        const float v = cap * tanhf(in[c] / cap);
        z[c] = v;
        top = fmaxf(top, v);
    }
    for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
    if (lane == 0) red[0][warp] = top;
    __syncthreads();
    top = fmaxf(fmaxf(red[0][0], red[0][1]), fmaxf(red[0][2], red[0][3]));

    float sum = 0.f;
    for (int c = threadIdx.x; c < len; c += blockDim.x) {
        const float e = expf(z[c] - top);
        z[c] = e;
        sum += e;
    }
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0) red[1][warp] = sum;
    __syncthreads();
    sum = red[1][0] + red[1][1] + red[1][2] + red[1][3];

    for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = c < len ? z[c] / sum : 0.f;
}
