#include <cuda_fp16.h>
// y = x W^T for weights of four bits, eight to a word. `per` words of a row share a scale and a zero point, which is
// taken off before. A warp takes a row for one of the inputs. Two weights at a time become halves by their place below
// 1024, from which 1024 and the zero point are taken off without rounding; inputs come by 16 bytes where they lie so.
extern "C" __global__ void __launch_bounds__(128)
    fourbit(const half* __restrict__ x, const unsigned* __restrict__ weight, const half* __restrict__ scale,
            const unsigned char* __restrict__ zero, float* __restrict__ y, int batch, int rows, int words, int per) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int groups = (words + per - 1) / per;
    bool even = (size_t)x % 16 == 0;
    float sum = 0.0f;
    for (int w = lane; w < words; w += 32) {
        size_t group = (size_t)row * groups + w / per;
        unsigned bits = weight[(size_t)row * words + w];
        const half* v = x + ((size_t)blockIdx.y * words + w) * 8;
        __align__(16) half in[8];
        if (even) {
            *(uint4*)in = *(const uint4*)v;
        } else {
#pragma unroll
            for (int k = 0; k < 8; ++k) in[k] = v[k];
        }
        half z = __ushort_as_half((unsigned short)(0x6400 + zero[group]));
        half2 z2 = __half2half2(z);
        float a = 0.0f, b = 0.0f;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            unsigned pair = (bits >> 4 * k & 0x000f000fu) | 0x64006400u;
            float2 q = __half22float2(__hsub2(*(half2*)&pair, z2));
            a = fmaf(q.x, __half2float(in[k]), a);
            b = fmaf(q.y, __half2float(in[k + 4]), b);
        }
        sum = fmaf(__half2float(scale[group]), a + b, sum);
    }
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) y[(size_t)blockIdx.y * rows + row] = sum;
}
