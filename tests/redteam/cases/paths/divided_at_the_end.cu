#include <cuda_runtime.h>

__global__ void ones(unsigned* v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = 1;
}

// A warp a place; a sum of 64 bits is divided once.
__global__ void step(const unsigned char* a, const unsigned* from, unsigned* to, int n) {
    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    unsigned long long sum = 0;
    for (int j = lane; j < n; j += 32) sum += (unsigned long long)a[(size_t)i * n + j] * from[j];
    sum %= 1000000007u;
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) to[i] = sum % 1000000007u;
}

// How many ways of so many steps begin at each place, each edge as often as it is there; modulo a prime.
extern "C" void paths(const unsigned char* a, unsigned* out, int n, int steps) {
    unsigned* other;
    cudaMalloc(&other, n * sizeof(unsigned));
    unsigned* from = steps % 2 ? other : out;
    ones<<<(n + 255) / 256, 256>>>(from, n);
    for (int s = 0; s < steps; ++s) {
        unsigned* to = from == out ? other : out;
        step<<<(n + 7) / 8, 256>>>(a, from, to, n);
        from = to;
    }
    cudaFree(other);
}
