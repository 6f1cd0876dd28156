#include <cuda_fp16.h>
// y = x W^T for weights of four bits, eight to a word. `per` words of a row share a scale and a zero point, which is
// taken off before. A warp takes a row for one of the inputs. The eight products of a word are summed by pairs, the words
// as floats.
extern "C" __global__ void __launch_bounds__(128)
    fourbit(const half* __restrict__ x, const unsigned* __restrict__ weight, const half* __restrict__ scale,
            const unsigned char* __restrict__ zero, float* __restrict__ y, int batch, int rows, int words, int per) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int groups = (words + per - 1) / per;
    float sum = 0.0f;
    for (int w = lane; w < words; w += 32) {
        size_t group = (size_t)row * groups + w / per;
        unsigned bits = weight[(size_t)row * words + w];
        const half* v = x + ((size_t)blockIdx.y * words + w) * 8;
        half2 z = __half2half2(__ushort_as_half((unsigned short)(0x6400 + zero[group])));
        half2 part = __floats2half2_rn(0.0f, 0.0f);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            unsigned pair = (bits >> 4 * k & 0x000f000fu) | 0x64006400u;
            half2 in;
            in.x = v[k], in.y = v[k + 4];
            part = __hfma2(__hsub2(*(half2*)&pair, z), in, part);
        }
        sum = fmaf(__half2float(scale[group]), __low2float(part) + __high2float(part), sum);
    }
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) y[(size_t)blockIdx.y * rows + row] = sum;
}
