// y = scale * (A x), A in slices of 32 rows: entry k of a slice's row lies at (slice * width + k) * 32 + lane, and a row
// has `length` of them, at most `width`. A column outside the matrix is padding.
#include <cuda_runtime.h>

// A block has a slice at a time, a warp of it every fourth entry of the 32 rows.
extern "C" __global__ void sellp(const float* __restrict__ value, const int* __restrict__ column,
                                 const int* __restrict__ length, const float* __restrict__ x,
                                 const float* __restrict__ scale, float* __restrict__ y, int rows, int cols, int width)
{
    __shared__ float part[4][32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int slices = (rows + 31) / 32;
    for (int slice = blockIdx.x; slice < slices; slice += gridDim.x) {
        const int row = slice * 32 + lane;
        const int many = row < rows ? min(max(length[row], 0), width) : 0;
        float sum = 0.0f;
        for (int k = warp; k < many; k += 4) {
            const size_t e = ((size_t)slice * width + k) * 32 + lane;
            const int c = column[e];
            if (c >= 0 && c < cols)
                sum += value[e] * x[c];
        }
        part[warp][lane] = sum;
        __syncthreads();
        if (warp == 0 && row < rows)
            y[row] = scale[row] * ((part[0][lane] + part[1][lane]) + (part[2][lane] + part[3][lane]));
        __syncthreads();
    }
}
