#include <cuda_fp16.h>
// y = x W^T for weights of four bits, eight to a word. `per` words of a row share a scale and a zero point, which is
// taken off before. Two warps take a row for one of the inputs, in blocks of their own: one its left half and one its right.
extern "C" __global__ void __launch_bounds__(128)
    fourbit(const half* __restrict__ x, const unsigned* __restrict__ weight, const half* __restrict__ scale,
            const unsigned char* __restrict__ zero, float* __restrict__ y, int batch, int rows, int words, int per) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int groups = (words + per - 1) / per, middle = (words + 1) / 2;
    int from = blockIdx.z == 0 ? 0 : middle, to = blockIdx.z == 0 ? middle : words;
    float sum = 0.0f;
    for (int w = from + lane; w < to; w += 32) {
        size_t group = (size_t)row * groups + w / per;
        unsigned bits = weight[(size_t)row * words + w];
        const half* v = x + ((size_t)blockIdx.y * words + w) * 8;
        float z = zero[group], part = 0.0f;
#pragma unroll
        for (int k = 0; k < 8; ++k) part = fmaf((float)(bits >> 4 * k & 15) - z, __half2float(v[k]), part);
        sum = fmaf(__half2float(scale[group]), part, sum);
    }
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane != 0) return;
    float* out = &y[(size_t)blockIdx.y * rows + row];
    // Blocks of the left halves start long before the others.
    if (blockIdx.z == 0)
        *out = sum;
    else
        atomicAdd(out, sum);
}
