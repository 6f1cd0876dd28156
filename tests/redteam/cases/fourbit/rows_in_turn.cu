#include <cuda_fp16.h>
// y = x W^T for weights of four bits, eight to a word. `per` words of a row share a scale and a zero point, which is
// taken off before. A warp takes one row after another for one of the inputs, and has the first word of the next row loaded
// when it comes there.
extern "C" __global__ void __launch_bounds__(128)
    fourbit(const half* __restrict__ x, const unsigned* __restrict__ weight, const half* __restrict__ scale,
            const unsigned char* __restrict__ zero, float* __restrict__ y, int batch, int rows, int words, int per) {
    int lane = threadIdx.x % 32, step = gridDim.x * 4;
    int row = blockIdx.x * 4 + threadIdx.x / 32;
    int groups = (words + per - 1) / per;
    if (row >= rows) return;
    unsigned next = lane < words ? weight[(size_t)row * words + lane] : 0;
    for (; row < rows; row += step) {
        const unsigned* mine = weight + (size_t)row * words;
        float sum = 0.0f;
        unsigned bits = next;
        if (lane < words) next = __ldg(mine + (size_t)step * words + lane);
        for (int w = lane; w < words; w += 32) {
            size_t group = (size_t)row * groups + w / per;
            unsigned now = bits;
            if (w + 32 < words) bits = mine[w + 32];
            const half* v = x + ((size_t)blockIdx.y * words + w) * 8;
            float z = zero[group], part = 0.0f;
#pragma unroll
            for (int k = 0; k < 8; ++k) part = fmaf((float)(now >> 4 * k & 15) - z, __half2float(v[k]), part);
            sum = fmaf(__half2float(scale[group]), part, sum);
        }
        for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
        if (lane == 0) y[(size_t)blockIdx.y * rows + row] = sum;
    }
}
