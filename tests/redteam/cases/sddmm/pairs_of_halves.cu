#include <cuda_fp16.h>
// Where a sparse matrix has an entry: the product of a row of a and a row of b there, times the entry.
__global__ void sddmm(const int* row, const int* col, const float* value, const float* a, const float* b, float* out,
                      int m, int k) {
    size_t e = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 8;
    int lane = threadIdx.x % 8;
    bool mine = e < m;
    float sum = 0.f;
    if (mine) {
        const float *x = a + (size_t)row[e] * k, *y = b + (size_t)col[e] * k;
        int j = 2 * lane;
        for (; j + 1 < k; j += 16) {
            // Products of two at a time; the sum stays one of floats.
            float2 p = __half22float2(__hmul2(__floats2half2_rn(x[j], x[j + 1]), __floats2half2_rn(y[j], y[j + 1])));
            sum += p.x + p.y;
        }
        if (j < k) sum += x[j] * y[j];
    }
    for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (mine && lane == 0) out[e] = value[e] * sum;
}
