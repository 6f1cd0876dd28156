// y = scale * (A x), A in slices of 32 rows: entry k of a slice's row lies at (slice * width + k) * 32 + lane, and a row
// has `length` of them, at most `width`. A column outside the matrix is padding.
#include <cuda_runtime.h>

extern "C" __global__ void sellp(const float* __restrict__ value, const int* __restrict__ column,
                                 const int* __restrict__ length, const float* __restrict__ x,
                                 const float* __restrict__ scale, float* __restrict__ y, int rows, int cols, int width)
{
    // Warps go from slice to slice; a row without entries needs no work, and a slice without any none at all.
    const int lane = threadIdx.x & 31;
    const int slices = (rows + 31) / 32;
    for (int slice = blockIdx.x * 4 + (threadIdx.x >> 5); slice < slices; slice += gridDim.x * 4) {
        const int row = slice * 32 + lane;
        const int many = row < rows ? min(max(length[row], 0), width) : 0;
        if (!__any_sync(0xffffffffu, many))
            continue;
        const float by = row < rows ? scale[row] : 0.0f;
        float even = 0.0f, odd = 0.0f;
        const size_t first = (size_t)slice * width * 32 + lane;
        int k = 0;
        for (; k + 1 < many; k += 2) {
            const int c = column[first + (size_t)k * 32], d = column[first + (size_t)k * 32 + 32];
            even += c >= 0 && c < cols ? value[first + (size_t)k * 32] * x[c] : 0.0f;
            odd += d >= 0 && d < cols ? value[first + (size_t)k * 32 + 32] * x[d] : 0.0f;
        }
        if (k < many) {
            const int c = column[first + (size_t)k * 32];
            even += c >= 0 && c < cols ? value[first + (size_t)k * 32] * x[c] : 0.0f;
        }
        if (row < rows)
            y[row] = by * (even + odd);
    }
}
