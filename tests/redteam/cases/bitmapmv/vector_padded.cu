// y = W x for pruned weights: a bit for each weight, and the weights that are left packed at the
// beginning of their row. Bits beyond the last column mean nothing.
#include <cuda_fp16.h>

// The vector lies in shared memory, 1024 columns at a time and filled up with zeros, so that no bit has to be
// looked at twice: those beyond the last column are multiplied by zero. Eight rows to a block, a warp each.
__global__ void bitmapmv(const int* bitmap, const half* packed, const float* x, float* y, int rows, int cols) {
    __shared__ float part[1024];
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    int words = (cols + 31) / 32;
    const half* next = packed + (size_t)row * cols;
    float sum = 0.0f;
    for (int base = 0; base < words; base += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
            int c = 32 * base + i;
            part[i] = c < cols ? x[c] : 0.0f;
        }
        __syncthreads();
        if (row < rows) {
            int count = min(32, words - base);
            unsigned mine = lane < count ? bitmap[(size_t)row * words + base + lane] : 0;
            for (int w = 0; w < count; ++w) {
                unsigned word = __shfl_sync(0xffffffffu, mine, w);
                if (word >> lane & 1) sum += __half2float(next[__popc(word & ((1u << lane) - 1))]) * part[32 * w + lane];
                next += __popc(word);
            }
        }
    }
    if (row >= rows) return;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = sum;
}
