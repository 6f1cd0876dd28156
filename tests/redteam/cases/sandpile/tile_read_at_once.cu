#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

// Heaps of sand: one of four grains or more gives one to each side; what falls off the table is gone.
// `sandpile WIDTH HEIGHT STEPS`.
__global__ void topple(const int* now, int* next, int* fallen, int w, int h) {
    __shared__ int held[10][34];
    int c0 = blockIdx.x * 32 - 1, r0 = blockIdx.y * 8 - 1, t = threadIdx.y * 32 + threadIdx.x;
    for (int e = t; e < 340; e += 256) {
        int r = r0 + e / 34, c = c0 + e % 34;
        held[e / 34][e % 34] = r >= 0 && r < h && c >= 0 && c < w ? now[r * w + c] : 0;
    }
    int c = c0 + 1 + threadIdx.x, r = r0 + 1 + threadIdx.y;
    const int* at = &held[threadIdx.y + 1][threadIdx.x + 1];
    bool falls = at[0] >= 4, mine = c < w && r < h;
    int many = __popc(__ballot_sync(~0u, falls && mine));
    if (threadIdx.x == 0 && many) atomicAdd(fallen, many);
    if (mine)
        next[r * w + c] =
            at[0] - 4 * falls + (at[-1] >= 4) + (at[1] >= 4) + (at[-34] >= 4) + (at[34] >= 4);
}

int main(int argc, char** argv) {
    int w = argc > 1 ? atoi(argv[1]) : 400, h = argc > 2 ? atoi(argv[2]) : 300;
    int steps = argc > 3 ? atoi(argv[3]) : 20;
    std::vector<int> sand((size_t)w * h);
    unsigned seed = 17;
    for (int& s : sand) s = (seed = seed * 1664525u + 1013904223u) >> 29;
    int *now, *next, *fallen, all;
    size_t bytes = sand.size() * sizeof(int);
    cudaMalloc(&now, bytes);
    cudaMalloc(&next, bytes);
    cudaMalloc(&fallen, sizeof(int));
    cudaMemcpy(now, sand.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemset(fallen, 0, sizeof(int));
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    for (int s = 0; s < steps; ++s) {
        topple<<<grid, block>>>(now, next, fallen, w, h);
        int* t = now;
        now = next, next = t;
    }
    cudaMemcpy(sand.data(), now, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(&all, fallen, sizeof(int), cudaMemcpyDeviceToHost);
    long long left = 0;
    for (int s : sand) left += s;
    printf("%d heaps fell, %lld grains are left\n", all, left);
    cudaFree(now);
    cudaFree(next);
    cudaFree(fallen);
    return 0;
}
