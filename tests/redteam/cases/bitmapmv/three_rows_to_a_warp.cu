// y = W x for pruned weights: a bit for each weight, and the weights that are left packed at the
// beginning of their row. Bits beyond the last column mean nothing.
#include <cuda_fp16.h>

// Three rows to a warp, a word of each to a lane: one scan does for their three counts, ten bits each.
// Bits of a word that stand for columns.
__device__ __forceinline__ unsigned valid(unsigned word, int w, int cols) {
    int left = cols - 32 * w;
    return left >= 32 ? word : word & ((1u << left) - 1);
}

__global__ void bitmapmv(const int* bitmap, const half* packed, const float* x, float* y, int rows, int cols) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 3;
    int lane = threadIdx.x % 32;
    if (first >= rows) return;
    int words = (cols + 31) / 32;
    int here = min(3, rows - first);
    float sum[3] = {};
    size_t next[3] = {};
    for (int base = 0; base < words; base += 32) {
        int w = base + lane;
        unsigned word[3] = {}, counts = 0;
#pragma unroll
        for (int r = 0; r < 3; ++r) {
            if (r < here && w < words) word[r] = valid(bitmap[(size_t)(first + r) * words + w], w, cols);
            counts |= (unsigned)__popc(word[r]) << 10 * r;
        }
        unsigned upto = counts;
        for (int d = 1; d < 32; d *= 2) {
            unsigned before = __shfl_up_sync(0xffffffffu, upto, d);
            if (lane >= d) upto += before;
        }
        unsigned all = __shfl_sync(0xffffffffu, upto, 31), mine = upto - counts;
#pragma unroll
        for (int r = 0; r < 3; ++r) {
            const half* from = packed + (size_t)(first + r) * cols + next[r] + (mine >> 10 * r & 1023);
            for (unsigned left = word[r]; left != 0; left &= left - 1) sum[r] += __half2float(*from++) * x[32 * w + __ffs(left) - 1];
            next[r] += all >> 10 * r & 1023;
        }
    }
#pragma unroll
    for (int r = 0; r < 3; ++r) {
        for (int d = 16; d > 0; d /= 2) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], d);
        if (lane == 0 && r < here) y[first + r] = sum[r];
    }
}
