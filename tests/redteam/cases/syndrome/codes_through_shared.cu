#include <cuda_runtime.h>

// The code that differs in the fewest bits from a word, and the first of those that differ in as few. Codes go through
// shared memory, 512 at a time; a thread has two words.
__global__ void nearest(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    __shared__ unsigned near[512];
    size_t i = blockIdx.x * (size_t)256 + threadIdx.x, k = i + 128;
    unsigned a = i < n ? word[i] : 0, b = k < n ? word[k] : 0;
    int da = 33, db = 33, ja = -1, jb = -1;
    for (int j0 = 0; j0 < m; j0 += min(m - j0, 512)) {
        int many = min(m - j0, 512);
        __syncthreads();
        for (int j = threadIdx.x; j < many; j += 128) near[j] = code[j0 + j];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < many; ++j) {
            int d = __popc(a ^ near[j]), e = __popc(b ^ near[j]);
            if (d < da) da = d, ja = j0 + j;
            if (e < db) db = e, jb = j0 + j;
        }
    }
    if (i < n) which[i] = ja, bits[i] = da;
    if (k < n) which[k] = jb, bits[k] = db;
}

// For each word the nearest of the codes, and in how many bits it differs.
extern "C" void syndrome(const unsigned* word, const unsigned* code, int* which, int* bits, int n, int m) {
    nearest<<<(n + 255) / 256, 128>>>(word, code, which, bits, n, m);
}
