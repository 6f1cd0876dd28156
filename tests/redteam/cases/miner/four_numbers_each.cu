#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// A number's hash, in 32 rounds.
__device__ unsigned hashed(unsigned v, unsigned salt) {
    unsigned a = v ^ 0x6a09e667u, b = salt ^ 0xbb67ae85u;
    for (int r = 0; r < 32; ++r) {
        a = (a + (b << 4 ^ b >> 5) + b) ^ (0x9e3779b9u * r + salt);
        b = (b + (a << 4 ^ a >> 5) + a) ^ (0x85ebca6bu * r + v);
    }
    return a ^ b;
}

// Which numbers have a hash below a limit: how many there are by the last four bits of the hash, and the first one. A
// block counts its own first; four numbers a thread.
__global__ void mine(unsigned* tally, unsigned* first, unsigned n, unsigned limit, unsigned salt) {
    __shared__ unsigned own[16], least;
    int t = threadIdx.x;
    if (t < 16) own[t] = 0;
    if (t == 16) least = 0xffffffffu;
    __syncthreads();
    for (unsigned long long i = blockIdx.x * 256ull + t; i < n; i += gridDim.x * 256ull) {
        unsigned hash = hashed(i, salt);
        if (hash >= limit) continue;
        atomicAdd(&own[hash & 15], 1u);
        atomicMin(&least, (unsigned)i);
    }
    __syncthreads();
    if (t < 16 && own[t]) atomicAdd(&tally[t], own[t]);
    if (t == 16 && least != 0xffffffffu) atomicMin(first, least);
}

// `miner NUMBERS BITS`: of so many numbers those whose hash begins with so many zeros.
int main(int argc, char** argv) {
    unsigned n = argc > 1 ? atoi(argv[1]) : 3000000, bits = argc > 2 ? atoi(argv[2]) : 8;
    unsigned limit = 0xffffffffu >> bits, found[17], *tally, *first;
    cudaMalloc(&tally, 16 * sizeof(unsigned));
    cudaMalloc(&first, sizeof(unsigned));
    for (unsigned salt = 1; salt <= 4; ++salt) {
        cudaMemset(tally, 0, 16 * sizeof(unsigned));
        cudaMemset(first, 255, sizeof(unsigned));
        mine<<<(n + 1023) / 1024, 256>>>(tally, first, n, limit, salt);
        cudaMemcpy(found, tally, 16 * sizeof(unsigned), cudaMemcpyDeviceToHost);
        cudaMemcpy(found + 16, first, sizeof(unsigned), cudaMemcpyDeviceToHost);
        unsigned all = 0;
        for (int k = 0; k < 16; ++k) all += found[k];
        printf("salt %u: %u found, the first %u, by bits", salt, all, found[16]);
        for (int k = 0; k < 16; ++k) printf(" %u", found[k]);
        printf("\n");
    }
    cudaFree(tally);
    cudaFree(first);
    return 0;
}
