#include <cuda_runtime.h>

// The code that differs in the fewest bits from a word, and the first of those that differ in as few. Eight lanes share
// the codes; bits and place are one number, and the smallest of them is what is asked for.
__global__ void nearest(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 8;
    int part = threadIdx.x % 8;
    unsigned own = i < n ? word[i] : 0;
    unsigned least = 33u << 16 | 0xffffu;
    for (long long j = part; j < m; j += 8)
        least = min(least, (unsigned)__popc(own ^ __ldg(&code[j])) << 16 | (unsigned)j);
    for (int w = 4; w; w /= 2) least = min(least, __shfl_xor_sync(0xffffffffu, least, w));
    if (part || i >= n) return;
    which[i] = (int)(least & 0xffffu);
    bits[i] = (int)(least >> 16);
}

// For each word the nearest of the codes, and in how many bits it differs.
extern "C" void syndrome(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    nearest<<<(n + 15) / 16, 128>>>(word, code, which, bits, n, m);
}
