#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// Grundy values of heaps, `grundy GAMES HEAPS`. The last sixteen values, of four bits each, are in one word.
__global__ void grundy(const unsigned* takes, unsigned char* value, int games, int heaps) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= games) return;
    unsigned char* mine = value + (size_t)g * heaps;
    unsigned rules = takes[g];
    unsigned long long last = 0;
    for (int h = 0; h < heaps; ++h) {
        unsigned reached = 0;
#pragma unroll
        for (int k = 1; k <= 16; ++k)
            if (k <= h && (rules >> (k - 1) & 1)) reached |= 1u << (last >> 4 * (k - 1) & 15);
        unsigned v = __ffs(~reached) - 1;
        last = last << 4 | (v & 15);
        mine[h] = v;
    }
}

int main(int argc, char** argv) {
    int games = argc > 1 ? atoi(argv[1]) : 20000, heaps = argc > 2 ? atoi(argv[2]) : 200;
    if (games < 1 || heaps < 1) return 1;
    size_t all = (size_t)games * heaps;
    std::vector<unsigned> rules(games);
    unsigned state = 5, many[17] = {};
    for (int g = 0; g < games; ++g) {
        state = state * 1664525u + 1013904223u;
        // Now and then one may take any number up to a limit.
        rules[g] = g % 97 ? state >> 16 : (2u << g / 97 % 16) - 1;
    }
    unsigned* takes;
    unsigned char* value;
    cudaMalloc(&takes, games * sizeof(unsigned));
    cudaMalloc(&value, all);
    cudaMemcpy(takes, rules.data(), games * sizeof(unsigned), cudaMemcpyHostToDevice);
    grundy<<<(games + 63) / 64, 64>>>(takes, value, games, heaps);
    std::vector<unsigned char> values(all);
    cudaMemcpy(values.data(), value, all, cudaMemcpyDeviceToHost);
    for (unsigned char v : values) ++many[v % 17];
    printf("%d games:", games);
    for (unsigned m : many) printf(" %u", m);
    printf("\n");
    cudaFree(takes);
    cudaFree(value);
    return 0;
}
