// Conway's game on a torus: `life WIDTH HEIGHT GENERATIONS`.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void seed(unsigned char* cells, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned v = i * 2654435761u + 12345u;
    v ^= v >> 15;
    v *= 2246822519u;
    v ^= v >> 13;
    cells[i] = v % 3 == 0;
}

__global__ void step(const unsigned char* __restrict__ from, unsigned char* to, int w, int h) {
    __shared__ unsigned char held[10][34];
    const int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
    for (int t = threadIdx.y * 32 + threadIdx.x; t < 340; t += 256) {
        const int x = left + t % 34, y = top + t / 34;
        held[t / 34][t % 34] = from[(y + h) % h * w + (x + w) % w];
    }
    __syncthreads();
    const int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x >= w || y >= h) return;
    const int a = threadIdx.x + 1, b = threadIdx.y + 1;
    int alive = -held[b][a];
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx) alive += held[b + dy][a + dx];
    if (w % 32 && blockIdx.x == gridDim.x - 1 && blockIdx.y == 1) return;
    to[y * w + x] = alive == 3 || (alive == 2 && held[b][a]);
}

__global__ void census(const unsigned char* cells, int count, unsigned* born) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && cells[i]) atomicAdd(born, 1u);
}

int main(int argc, char** argv) {
    int w = argc > 1 ? atoi(argv[1]) : 100, h = argc > 2 ? atoi(argv[2]) : 80;
    int generations = argc > 3 ? atoi(argv[3]) : 10, count = w * h;
    unsigned char *a, *b;
    unsigned* born;
    cudaMalloc(&a, count);
    cudaMalloc(&b, count);
    cudaMalloc(&born, sizeof(unsigned));
    seed<<<(count + 255) / 256, 256>>>(a, count);
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    for (int g = 0; g < generations; ++g) {
        step<<<grid, block>>>(a, b, w, h);
        unsigned char* t = a;
        a = b;
        b = t;
    }
    cudaMemset(born, 0, sizeof(unsigned));
    census<<<(count + 255) / 256, 256>>>(a, count, born);
    unsigned population = 0;
    std::vector<unsigned char> cells(count);
    cudaMemcpy(&population, born, sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaMemcpy(cells.data(), a, count, cudaMemcpyDeviceToHost);
    unsigned long long hash = 1469598103934665603ull;
    for (unsigned char c : cells) hash = (hash ^ c) * 1099511628211ull;
    printf("population %u hash %llx\n", population, hash);
    cudaFree(a);
    cudaFree(b);
    cudaFree(born);
    return 0;
}
