#include <cuda_runtime.h>

// The code that differs in the fewest bits from a word, and the first of those that differ in as few. Eight lanes share
// the codes; of equally near ones the smaller place wins.
__global__ void nearest(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 8;
    int part = threadIdx.x % 8;
    unsigned own = i < n ? word[i] : 0;
    unsigned least = 33, at = ~0u;
    for (long long j = part; j < m; j += 8) {
        unsigned d = __popc(own ^ __ldg(&code[j]));
        if (d < least) least = d, at = (unsigned)j;
    }
    for (int w = 4; w; w /= 2) {
        unsigned d = __shfl_xor_sync(0xffffffffu, least, w), j = __shfl_xor_sync(0xffffffffu, at, w);
        if (d < least || (d == least && j < at)) least = d, at = j;
    }
    if (part || i >= n) return;
    which[i] = (int)at;
    bits[i] = (int)least;
}

// For each word the nearest of the codes, and in how many bits it differs.
extern "C" void syndrome(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    nearest<<<(n + 15) / 16, 128>>>(word, code, which, bits, n, m);
}
