// A notary seals every document (a row of words): seal[r] = sum over j of word[r][j] * B^j modulo the prime P = 2^31 - 1, always as the
// residue 0..P-1. pw[j] = B^j mod P is handed back as well.
#include <cuda_runtime.h>

typedef unsigned long long u64;
constexpr u64 P = 2147483647ull;

__global__ void powers(unsigned* pw, unsigned b, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= cols) return;
    u64 f = b % P, v = 1;
    for (int e = j; e > 0; e >>= 1) {
        if (e & 1) v = v * f % P;
        f = f * f % P;
    }
    pw[j] = (unsigned)v;
}

__global__ void seals(const unsigned* __restrict__ word, const unsigned* __restrict__ pw, unsigned* __restrict__ seal, unsigned b, int rows,
                      int cols) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows) return;
    const unsigned* w = word + (size_t)row * cols;
    u64 s = 0;
    for (int j = lane; j < cols; j += 32) s = (s + (u64)w[j] * pw[j]) % P;
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    if (lane == 0) seal[row] = (unsigned)(s % P);
}

extern "C" void notary(const unsigned* word, unsigned* pw, unsigned* seal, unsigned b, int rows, int cols) {
    if (rows <= 0 || cols <= 0) return;
    powers<<<(cols + 127) / 128, 128>>>(pw, b, cols);
    seals<<<(rows + 7) / 8, 256>>>(word, pw, seal, b, rows, cols);
}
