#include <cuda_fp16.h>
// One token through a layer whose weights have four bits, two to a byte, the lower one first; `group` columns of a row
// share a scale and a zero point.
__global__ void skinny(const unsigned char* w, const float* scale, const float* zero, const float* x, float* y,
                       int rows, int cols, int group) {
    // A warp a row. Weights are whole numbers up to 15 less a zero point, so pairs of halves hold them.
    int lane = threadIdx.x % 32, r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (r >= rows) return;
    int bytes = (cols + 1) / 2, groups = (cols + group - 1) / group;
    const unsigned char* own = w + (size_t)r * bytes;
    const float *factor = scale + (size_t)r * groups, *offset = zero + (size_t)r * groups;
    float sum = 0.f;
    for (int b = lane; b < bytes; b += 32) {
        int v = own[b], c = 2 * b, last = c + 1 < cols, g = c / group, e = (c + last) / group;
        __half2 q = __floats2half2_rn((v & 15) - offset[g], (v >> 4) - offset[e]);
        __half2 p = __hmul2(q, __floats2half2_rn(x[c], last ? x[c + 1] : 0.f));
        sum += factor[g] * __low2float(p) + factor[e] * __high2float(p);
    }
    for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (lane == 0) y[r] = sum;
}
