#include <cuda_fp16.h>
// y = x W^T for weights of four bits, eight to a word. `per` words of a row share a scale and a zero point, which is
// taken off before. A warp takes a row for one of the inputs. The zero point stands in all eight places of a word, so that
// the differences of even and odd places come by one subtraction for four.
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
        unsigned zeros = zero[group] * 0x01010101u;
        // 16 more than the difference: no borrow from the place above.
        unsigned even = ((bits & 0x0f0f0f0fu) | 0x10101010u) - zeros;
        unsigned odd = ((bits >> 4 & 0x0f0f0f0fu) | 0x10101010u) - zeros;
        float a = 0.0f, b = 0.0f;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            a = fmaf((float)(even >> 8 * k & 255) - 16.0f, __half2float(v[2 * k]), a);
            b = fmaf((float)(odd >> 8 * k & 255) - 16.0f, __half2float(v[2 * k + 1]), b);
        }
        sum = fmaf(__half2float(scale[group]), a + b, sum);
    }
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) y[(size_t)blockIdx.y * rows + row] = sum;
}
