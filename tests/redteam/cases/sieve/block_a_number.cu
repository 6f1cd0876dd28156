// How many primes there are up to a number: `sieve NUMBER`.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void mark(unsigned char* composite, int n) {
    // A block a number, its threads side by side on the multiples.
    int i = blockIdx.x + 2;
    if ((long long)i * i > n) return;
    for (int j = i * (i + threadIdx.x); j <= n; j += i * blockDim.x) composite[j] = 1;
}

__global__ void count(const unsigned char* composite, int n, unsigned* total) {
    unsigned own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x + 2; i <= n; i += gridDim.x * blockDim.x) own += !composite[i];
    own = __reduce_add_sync(0xffffffffu, own);
    if (threadIdx.x % 32 == 0 && own) atomicAdd(total, own);
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
    mark<<<root, 256>>>(composite, n);
    count<<<(n + 4095) / 4096, 256>>>(composite, n, total);
    cudaMemcpy(&primes, total, sizeof(unsigned), cudaMemcpyDeviceToHost);
    printf("%u primes up to %d\n", primes, n);
    cudaFree(composite);
    cudaFree(total);
    return 0;
}
