#include <cuda_runtime.h>

// The code that differs in the fewest bits from a word, and the first of those that differ in as few.
__global__ void nearest(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int least = 33, at = -1;
    for (int j = 0; j < m; ++j) {
        int d = __popc(word[i] ^ code[j]);
        if (d < least) least = d, at = j;
    }
    which[i] = at;
    bits[i] = least;
}

// For each word the nearest of the codes, and in how many bits it differs.
extern "C" void syndrome(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    nearest<<<(n + 127) / 128, 128>>>(word, code, which, bits, n, m);
}
