#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// What a line through the last two samples misses, with the sign as the lowest bit.
__device__ unsigned missed(const short* x, int i) {
    int r = i < 2 ? x[i] : x[i] - 2 * x[i - 1] + x[i - 2];
    return r < 0 ? -2 * r - 1 : 2 * r;
}

// A warp to a block of samples: lanes have a share of all sums, and add them up by shuffles.
__global__ void choose(const short* x, unsigned char* shift, unsigned* bits, unsigned long long* all, int n, int block) {
    int b = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (b >= (n + block - 1) / block) return;
    int begin = b * block, many = min(n - begin, block), chosen = 0;
    unsigned sum[16] = {}, least = ~0u;
    for (int u = lane; u < many; u += 32) {
        unsigned v = missed(x, begin + u);
#pragma unroll
        for (int k = 0; k < 16; ++k) sum[k] += (v >> k) + 1 + k;
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        for (int w = 16; w > 0; w /= 2) sum[k] += __shfl_xor_sync(~0u, sum[k], w);
        if (sum[k] >= least) continue;
        least = sum[k];
        chosen = k;
    }
    if (lane > 0) return;
    shift[b] = chosen;
    bits[b] = least;
    atomicAdd(all, (unsigned long long)least);
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1500000, block = argc > 2 ? atoi(argv[2]) : 96;
    if (n < 1 || block < 1) return 1;
    int blocks = (n + block - 1) / block;
    std::vector<short> sound(n);
    unsigned state = 11, many[16] = {};
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        int wave = abs(i % 400 - 200) * 40 - 4000, noise = (int)(state >> 16) % (1 << (i / 3000) % 14);
        sound[i] = wave + noise;
    }
    short* x;
    unsigned char* shift;
    unsigned* bits;
    unsigned long long *all, total;
    cudaMalloc(&x, n * sizeof(short));
    cudaMalloc(&shift, blocks);
    cudaMalloc(&bits, blocks * sizeof(unsigned));
    cudaMalloc(&all, sizeof(unsigned long long));
    cudaMemcpy(x, sound.data(), n * sizeof(short), cudaMemcpyHostToDevice);
    cudaMemset(all, 0, sizeof(unsigned long long));
    choose<<<(blocks + 1) / 2, 64>>>(x, shift, bits, all, n, block);
    std::vector<unsigned char> shifts(blocks);
    std::vector<unsigned> lengths(blocks);
    cudaMemcpy(shifts.data(), shift, blocks, cudaMemcpyDeviceToHost);
    cudaMemcpy(lengths.data(), bits, blocks * sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaMemcpy(&total, all, sizeof(unsigned long long), cudaMemcpyDeviceToHost);
    for (unsigned char s : shifts) ++many[s & 15];
    printf("%llu bits, the first block has %u; shifts", total, lengths[0]);
    for (unsigned m : many) printf(" %u", m);
    printf("\n");
    cudaFree(x);
    cudaFree(shift);
    cudaFree(bits);
    cudaFree(all);
    return 0;
}
