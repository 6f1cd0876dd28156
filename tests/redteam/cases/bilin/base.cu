#include <cuda_fp16.h>

// Scores of pairs under a bilinear form: out[i] = x[i]^T W y[i], half inputs, float arithmetic. A warp per pair.
#define D 64

extern "C" __global__ void bilin(const __half* x, const __half* w, const __half* y, float* out, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (i >= n) return;
    float p = 0.0f, q = 0.0f;
    for (int a = 0; a < D; a++) {
        float xa = __half2float(x[(size_t)i * D + a]);
        p += xa * __half2float(w[a * D + lane]);
        q += xa * __half2float(w[a * D + lane + 32]);
    }
    float s = p * __half2float(y[(size_t)i * D + lane]) + q * __half2float(y[(size_t)i * D + lane + 32]);
    for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) out[i] = s;
}
