#include <cuda_fp16.h>

// W lies in shared memory as float, and a warp takes four pairs at once, so that a word of W serves four sums.
#define D 64
#define PAIRS 4

extern "C" __global__ void bilin(const __half* __restrict__ x, const __half* __restrict__ w,
                                 const __half* __restrict__ y, float* __restrict__ out, int n)
{
    __shared__ float ws[D * D];
    for (int k = threadIdx.x; k < D * D; k += blockDim.x) ws[k] = __half2float(w[k]);
    __syncthreads();
    int lane = threadIdx.x & 31;
    int first = ((blockIdx.x * blockDim.x + threadIdx.x) >> 5) * PAIRS;
    if (first >= n) return;
    float2 own[PAIRS];                          // x of the four pairs, two places a lane
    float p[PAIRS] = {}, q[PAIRS] = {};
    for (int k = 0; k < PAIRS; k++) {
        size_t i = min(first + k, n - 1);
        own[k] = __half22float2(reinterpret_cast<const __half2*>(x + i * D)[lane]);
    }
    for (int a = 0; a < D; a += 2) {
        float w00 = ws[a * D + lane], w01 = ws[a * D + lane + 32];
        float w10 = ws[(a + 1) * D + lane], w11 = ws[(a + 1) * D + lane + 32];
        #pragma unroll
        for (int k = 0; k < PAIRS; k++) {
            float even = __shfl_sync(0xffffffffu, own[k].x, a / 2);
            float odd = __shfl_sync(0xffffffffu, own[k].y, a / 2);
            p[k] += even * w00 + odd * w10;
            q[k] += even * w01 + odd * w11;
        }
    }
    for (int k = 0; k < PAIRS; k++) {
        size_t i = min(first + k, n - 1);
        float s = p[k] * __half2float(y[i * D + lane]) + q[k] * __half2float(y[i * D + lane + 32]);
        for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
        if (lane == k && first + k < n) out[first + k] = s;
    }
}
