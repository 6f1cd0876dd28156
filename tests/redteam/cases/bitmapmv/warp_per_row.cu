// y = W x for pruned weights: a bit for each weight, and the weights that are left packed at the
// beginning of their row. Bits beyond the last column mean nothing.
#include <cuda_fp16.h>

// A warp to a row and a lane to a bit: the set bits before a lane's own are its place among the packed.
__global__ void bitmapmv(const int* bitmap, const half* packed, const float* x, float* y, int rows, int cols) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    int words = (cols + 31) / 32;
    const half* next = packed + (size_t)row * cols;
    const int* bits = bitmap + (size_t)row * words;
    float sum = 0.0f;
    for (int w = 0; w < words; ++w) {
        unsigned word = bits[w];
        int c = 32 * w + lane;
        if (c < cols && (word >> lane & 1)) sum += __half2float(next[__popc(word & ((1u << lane) - 1))]) * x[c];
        next += __popc(word);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = sum;
}
