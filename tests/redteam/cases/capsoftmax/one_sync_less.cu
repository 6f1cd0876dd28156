// Soft-capped softmax; exponentials are parked in the output row, so the last pass only scales.
#include <cuda_runtime.h>
#include <math_constants.h>

__device__ __forceinline__ float soften(float x, float cap) { return cap * tanhf(x / cap); }

extern "C" __global__ void capsoftmax(const float* __restrict__ logits, const int* __restrict__ valid,
                                      float* __restrict__ probs, int rows, int cols, float cap) {
    __shared__ float red[4];
    const int row = blockIdx.x;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float* in = logits + (size_t)row * cols;
    float* out = probs + (size_t)row * cols;
    const int len = min(max(valid[row], 0), cols);

    float top = -CUDART_INF_F;
    for (int c = threadIdx.x; c < len; c += blockDim.x) top = fmaxf(top, soften(in[c], cap));
    for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
    if (lane == 0) red[warp] = top;
    __syncthreads();
    top = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3]));

    // every thread rereads only the elements that it wrote itself
    float sum = 0.f;
    for (int c = threadIdx.x; c < len; c += blockDim.x) {
        const float e = expf(soften(in[c], cap) - top);
        out[c] = e;
        sum += e;
    }
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0) red[warp] = sum;
    __syncthreads();
    sum = red[0] + red[1] + red[2] + red[3];

    for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = c < len ? out[c] / sum : 0.f;
}
