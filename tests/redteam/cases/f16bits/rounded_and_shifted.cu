#include <cuda_fp16.h>

// Rounded to the eleven bits of a half first; small ones are shifted to their place, to nearest again.
__device__ unsigned coded(float v) {
    unsigned u = __float_as_uint(v), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    if (a > 0x7f800000u) return 0x7fffu;
    if (a >= 0x477ff000u) return sign | 0x7c00u;
    unsigned eleven = (a + 0xfffu + (a >> 13 & 1u)) >> 13;
    int e = (int)(eleven >> 10) - 112;
    if (e > 0) return sign | (eleven - (112u << 10));
    unsigned places = 1 - e;
    if (places > 12) return sign;
    unsigned whole = (eleven & 0x3ffu) | 0x400u, kept = whole >> places;
    unsigned rest = whole & ((1u << places) - 1u), middle = 1u << (places - 1);
    if (rest > middle || (rest == middle && (kept & 1u))) ++kept;
    return sign | kept;
}

// The 16 bits of each number as a half: to nearest, ties to even, small ones without a leading one; whatever
// is no number becomes the same one.
__global__ void f16bits(const float* x, unsigned short* y, int n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x)
        y[i] = (unsigned short)coded(x[i]);
}
