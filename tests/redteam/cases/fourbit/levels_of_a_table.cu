#include <cuda_fp16.h>
// y = x W^T for weights of four bits, eight to a word. `per` words of a row share a scale and a zero point, which is
// taken off before. A warp takes a row for one of the inputs. The levels come from a table.
__constant__ float level[16] = {0.0f, 1.0f, 2.0f,  3.0f,  4.0f,  5.0f,  6.0f,  7.0f,
                                8.0f, 9.0f, 10.0f, 11.0f, 12.0f, 13.0f, 14.0f, 15.0f};

extern "C" __global__ void __launch_bounds__(128)
    fourbit(const half* __restrict__ x, const unsigned* __restrict__ weight, const half* __restrict__ scale,
            const unsigned char* __restrict__ zero, float* __restrict__ y, int batch, int rows, int words, int per) {
    __shared__ float levels[16];
    if (threadIdx.x < 16) levels[threadIdx.x] = level[threadIdx.x];
    __syncthreads();
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int groups = (words + per - 1) / per;
    const unsigned* mine = weight + (size_t)row * words;
    const half* v = x + ((size_t)blockIdx.y * words + lane) * 8;
    float sum = 0.0f;
    unsigned next = lane < words ? mine[lane] : 0;
    for (int w = lane; w < words; w += 32, v += 256) {
        unsigned bits = next;
        if (w + 32 < words) next = mine[w + 32];
        size_t group = (size_t)row * groups + w / per;
        float z = zero[group], a = 0.0f, b = 0.0f;
#pragma unroll
        for (int k = 0; k < 8; k += 2) {
            a = fmaf(levels[bits >> 4 * k & 15] - z, __half2float(v[k]), a);
            b = fmaf(levels[bits >> (4 * k + 4) & 15] - z, __half2float(v[k + 1]), b);
        }
        sum = fmaf(__half2float(scale[group]), a + b, sum);
    }
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) y[(size_t)blockIdx.y * rows + row] = sum;
}
