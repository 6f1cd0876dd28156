#include <cuda_fp16.h>
// y = x W^T for weights of four bits, eight to a word. `per` words of a row share a scale and a zero point, which is
// taken off before. A warp takes a row for one of the inputs.
extern "C" __global__ void fourbit(const half* x, const unsigned* weight, const half* scale, const unsigned char* zero,
                                   float* y, int batch, int rows, int words, int per) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int groups = (words + per - 1) / per;
    float sum = 0.0f;
    for (int w = lane; w < words; w += 32) {
        size_t group = (size_t)row * groups + w / per;
        unsigned bits = weight[(size_t)row * words + w];
        const half* v = x + ((size_t)blockIdx.y * words + w) * 8;
        float z = zero[group], part = 0.0f;
        for (int k = 0; k < 8; ++k) part = fmaf((float)(bits >> 4 * k & 15) - z, __half2float(v[k]), part);
        sum = fmaf(__half2float(scale[group]), part, sum);
    }
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) y[(size_t)blockIdx.y * rows + row] = sum;
}
