#include <cuda_runtime.h>

// The code that differs in the fewest bits from a word, and the first of those that differ in as few. All codes are in
// shared memory.
__global__ void nearest(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    extern __shared__ unsigned near[];
    for (int j = threadIdx.x; j < m; j += 128) near[j] = code[j];
    __syncthreads();
    size_t i = blockIdx.x * (size_t)128 + threadIdx.x;
    if (i >= n) return;
    unsigned own = word[i];
    int least = 33, at = -1;
#pragma unroll 4
    for (int j = 0; j < m; ++j) {
        int d = __popc(own ^ near[j]);
        if (d < least) least = d, at = j;
    }
    which[i] = at;
    bits[i] = least;
}

// For each word the nearest of the codes, and in how many bits it differs.
extern "C" void syndrome(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    nearest<<<(n + 127) / 128, 128, m * sizeof(unsigned)>>>(word, code, which, bits, n, m);
}
