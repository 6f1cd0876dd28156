// y = W x for pruned weights: a bit for each weight, and the weights that are left packed at the
// beginning of their row. Bits beyond the last column mean nothing.
#include <cuda_fp16.h>

// A warp to a row and a lane to a word. A scan over the counts tells each lane where its weights begin.
// Bits of a word that stand for columns.
__device__ __forceinline__ unsigned valid(unsigned word, int w, int cols) {
    int left = cols - 32 * w;
    return left >= 32 ? word : word & ((1u << left) - 1);
}

__global__ void bitmapmv(const int* bitmap, const half* packed, const float* x, float* y, int rows, int cols) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    int words = (cols + 31) / 32;
    const half* next = packed + (size_t)row * cols;
    const int* bits = bitmap + (size_t)row * words;
    float sum = 0.0f;
    for (int w = lane; w - lane < words; w += 32) {
        unsigned word = w < words ? valid(bits[w], w, cols) : 0u;
        int upto = __popc(word);
        for (int d = 1; d < 32; d *= 2) {
            int before = __shfl_up_sync(0xffffffffu, upto, d);
            if (lane >= d) upto += before;
        }
        const half* mine = next + upto - __popc(word);
        for (; word != 0; word &= word - 1) sum += __half2float(*mine++) * x[32 * w + __ffs(word) - 1];
        next += __shfl_sync(0xffffffffu, upto, 31);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = sum;
}
