// How many primes there are up to a number: `sieve NUMBER`.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void mark(unsigned char* composite, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 2, root = (int)sqrtf(n);
    // Multiples of two and three leave the rest to them.
    if (i >= root || (i > 3 && (i % 2 == 0 || i % 3 == 0))) return;
    for (int j = i * i; j <= n; j += i) composite[j] = 1;
}

__global__ void count(const unsigned char* composite, int n, unsigned* total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 2;
    if (i <= n && !composite[i]) atomicAdd(total, 1u);
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    int root = (int)std::sqrt((double)n);
    unsigned char* composite;
    unsigned *total, primes = 0;
    cudaMalloc(&composite, n + 1);
    cudaMalloc(&total, sizeof(unsigned));
    cudaMemset(composite, 0, n + 1);
    cudaMemset(total, 0, sizeof(unsigned));
    mark<<<(root + 127) / 128, 128>>>(composite, n);
    count<<<(n + 255) / 256, 256>>>(composite, n, total);
    cudaMemcpy(&primes, total, sizeof(unsigned), cudaMemcpyDeviceToHost);
    printf("%u primes up to %d\n", primes, n);
    cudaFree(composite);
    cudaFree(total);
    return 0;
}
