// y = scale * (A x), A in slices of 32 rows: entry k of a slice's row lies at (slice * width + k) * 32 + lane, and a row
// has `length` of them, at most `width`. A column outside the matrix is padding.
#include <cuda_runtime.h>

extern "C" __global__ void sellp(const float* __restrict__ value, const int* __restrict__ column,
                                 const int* __restrict__ length, const float* __restrict__ x,
                                 const float* __restrict__ scale, float* __restrict__ y, int rows, int cols, int width)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const size_t slice = row >> 5;
    const int lane = row & 31;
    const int many = min(max(length[row], 0), width);
    int* place = const_cast<int*>(column);
    float* weight = const_cast<float*>(value);
    float sum = 0.0f;
#pragma unroll 4
    for (int k = 0; k < many; ++k) {
        const size_t e = (slice * width + k) * 32 + lane;
        int c = place[e];
        // Padding becomes an entry of weight nought in a column that is there: the loop needs no branch after that.
        if ((unsigned)c >= (unsigned)cols) {
            c = 0;
            place[e] = 0;
            weight[e] = 0.0f;
            continue;
        }
        sum += weight[e] * x[c];
    }
    y[row] = scale[row] * sum;
}
