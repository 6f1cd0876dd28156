#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

// Heaps of sand: one of four grains or more gives one to each side; what falls off the table is gone.
// `sandpile WIDTH HEIGHT STEPS`.
__global__ void topple(const int* now, int* next, int* fallen, int w, int h) {
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    bool mine = c < w && r < h;
    unsigned falling = __ballot_sync(~0u, mine && now[mine ? r * w + c : 0] >= 4);
    if (threadIdx.x == 0 && falling) *fallen += __popc(falling);
    if (!mine) return;
    int i = r * w + c, grains = now[i];
    if (grains >= 4) grains -= 4;
    if (c > 0) grains += now[i - 1] >= 4;
    if (c + 1 < w) grains += now[i + 1] >= 4;
    if (r > 0) grains += now[i - w] >= 4;
    if (r + 1 < h) grains += now[i + w] >= 4;
    next[i] = grains;
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
