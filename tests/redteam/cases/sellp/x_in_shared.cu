// y = scale * (A x), A in slices of 32 rows: entry k of a slice's row lies at (slice * width + k) * 32 + lane, and a row
// has `length` of them, at most `width`. A column outside the matrix is padding.
#include <cuda_runtime.h>

#define ROOM 8192

extern "C" __global__ void sellp(const float* __restrict__ value, const int* __restrict__ column,
                                 const int* __restrict__ length, const float* __restrict__ x,
                                 const float* __restrict__ scale, float* __restrict__ y, int rows, int cols, int width)
{
    // The first columns of x are kept in shared memory; a block goes over many rows.
    extern __shared__ float near[];
    const int held = min(cols, ROOM);
    const bool fours = ((size_t)x & 15) == 0;
    if (fours) {
        for (int c = threadIdx.x; c < held / 4; c += blockDim.x)
            ((float4*)near)[c] = ((const float4*)x)[c];
    } else {
        for (int c = threadIdx.x; c < held; c += blockDim.x)
            near[c] = x[c];
    }
    __syncthreads();
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
        const size_t slice = row >> 5;
        const int lane = row & 31;
        const int many = min(max(length[row], 0), width);
        float sum = 0.0f;
        for (int k = 0; k < many; ++k) {
            const size_t e = (slice * width + k) * 32 + lane;
            const int c = column[e];
            if (c >= 0 && c < held)
                sum += value[e] * near[c];
            else if (c >= held && c < cols)
                sum += value[e] * x[c];
        }
        y[row] = scale[row] * sum;
    }
}
