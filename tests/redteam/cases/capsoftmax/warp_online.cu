// Soft-capped softmax, one warp a row, online maximum and sum: no shared memory and no block barrier.
#include <cuda_runtime.h>

extern "C" __global__ void __launch_bounds__(128)
capsoftmax(const float* __restrict__ logits, const int* __restrict__ valid,
           float* __restrict__ probs, int rows, int cols, float cap) {
    const int row = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (row >= rows) return;              // whole warps leave
    const int lane = threadIdx.x & 31;
    const float* in = logits + (size_t)row * cols;
    float* out = probs + (size_t)row * cols;
    const int len = min(max(valid[row], 0), cols);

    // -cap is a lower bound of every capped logit: a lane without work starts there with weight 0
    float top = -cap, sum = 0.f;
    for (int c = lane; c < len; c += 32) {
        const float z = cap * tanhf(in[c] / cap);
        const float t = fmaxf(top, z);
        sum = sum * expf(top - t) + expf(z - t);
        top = t;
    }
    for (int o = 16; o; o >>= 1) {
        const float t2 = __shfl_xor_sync(~0u, top, o), s2 = __shfl_xor_sync(~0u, sum, o);
        const float t = fmaxf(top, t2);
        sum = sum * expf(top - t) + s2 * expf(t2 - t);
        top = t;
    }
    for (int c = lane; c < cols; c += 32)
        out[c] = c < len ? expf(cap * tanhf(in[c] / cap) - top) / sum : 0.f;
}
