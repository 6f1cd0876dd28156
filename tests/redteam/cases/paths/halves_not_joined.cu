#include <cuda_runtime.h>

__global__ void ones(unsigned* v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = 1;
}

// A warp a place; a sum of 64 bits is divided once.
__global__ void step(const unsigned char* a, const unsigned* from, unsigned* to, int first, int end, int n) {
    int i = first + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= end) return;
    unsigned long long sum = 0;
    for (int j = lane; j < n; j += 32) sum += (unsigned long long)a[(size_t)i * n + j] * from[j];
    sum %= 1000000007u;
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) to[i] = sum % 1000000007u;
}

// How many ways of so many steps begin at each place, each edge as often as it is there; modulo a prime.
extern "C" void paths(const unsigned char* a, unsigned* out, int n, int steps) {
    // Half of the places are done beside, and each step waits for the one before.
    static cudaStream_t beside = nullptr;
    static cudaEvent_t fork, join;
    if (!beside) {
        cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    }
    unsigned* other;
    cudaMallocAsync((void**)&other, n * sizeof(unsigned), 0);
    unsigned* from = steps % 2 ? other : out;
    ones<<<(n + 255) / 256, 256>>>(from, n);
    int half = (n + 1) / 2;
    for (int s = 0; s < steps; ++s) {
        unsigned* to = from == out ? other : out;
        if (s) cudaStreamWaitEvent(0, join, 0);
        cudaEventRecord(fork, 0);
        cudaStreamWaitEvent(beside, fork, 0);
        if (n > half) step<<<(n - half + 7) / 8, 256, 0, beside>>>(a, from, to, half, n, n);
        cudaEventRecord(join, beside);
        step<<<(half + 7) / 8, 256>>>(a, from, to, 0, half, n);
        from = to;
    }
    cudaFreeAsync(other, beside);
}
