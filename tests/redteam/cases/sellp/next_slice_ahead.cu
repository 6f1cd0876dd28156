// y = scale * (A x), A in slices of 32 rows: entry k of a slice's row lies at (slice * width + k) * 32 + lane, and a row
// has `length` of them, at most `width`. A column outside the matrix is padding.
#include <cuda_runtime.h>

extern "C" __global__ void sellp(const float* __restrict__ value, const int* __restrict__ column,
                                 const int* __restrict__ length, const float* __restrict__ x,
                                 const float* __restrict__ scale, float* __restrict__ y, int rows, int cols, int width)
{
    // A warp has a slice; the first entry and the length of its next one are loaded while this one is summed.
    const int lane = threadIdx.x & 31;
    const int slices = (rows + 31) / 32;
    const int stride = gridDim.x * 4;
    int slice = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (slice >= slices)
        return;
    int many = slice * 32 + lane < rows ? min(max(length[slice * 32 + lane], 0), width) : 0;
    size_t first = (size_t)slice * width * 32 + lane;
    float v = value[first];
    int c = column[first];
    while (slice < slices) {
        const int next = slice + stride;
        const int many_next = length[next * 32 + lane];
        const size_t first_next = (size_t)next * width * 32 + lane;
        const float v_next = value[first_next];
        const int c_next = column[first_next];
        float sum = many > 0 && c >= 0 && c < cols ? v * x[c] : 0.0f;
        for (int k = 1; k < many; ++k) {
            const int d = column[first + (size_t)k * 32];
            if (d >= 0 && d < cols)
                sum += value[first + (size_t)k * 32] * x[d];
        }
        const int row = slice * 32 + lane;
        if (row < rows)
            y[row] = scale[row] * sum;
        slice = next;
        many = next * 32 + lane < rows ? min(max(many_next, 0), width) : 0;
        first = first_next;
        v = v_next;
        c = c_next;
    }
}
