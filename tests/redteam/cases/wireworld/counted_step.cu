// Wireworld: a cell is empty (0), an electron's head (1), its tail (2) or wire (3).  Heads become tails, tails wire;
// wire becomes a head if one or two of its eight neighbours are heads.  Beyond the edges all is empty.
// Arguments: width height steps every seed.  Heads and tails are counted every so many steps and at the end.
// The step before a count does the counting, too.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__global__ void sow(unsigned char* cell, int w, int h, unsigned seed)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned k = (unsigned)y * 0x9e3779b1u ^ (unsigned)x * 0x85ebca77u ^ seed * 0xc2b2ae3du;
    k ^= k >> 15; k *= 0x2c1b3c6du; k ^= k >> 12; k *= 0x297a2d39u; k ^= k >> 15;
    const unsigned d = k % 100;
    cell[(size_t)y * w + x] = d < 45 ? 0 : d < 49 ? 1 : d < 52 ? 2 : 3;
}

template <bool COUNT>
__global__ void step(const unsigned char* __restrict__ from, unsigned char* __restrict__ to, int w, int h,
                     unsigned* count)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const bool in = x < w && y < h;
    const unsigned char c = in ? from[(size_t)y * w + x] : 0;
    unsigned char next = c == 1 ? 2 : c == 2 ? 3 : 0;
    if (c == 3) {
        int heads = 0;
        for (int j = y - 1; j <= y + 1; j++)
            for (int i = x - 1; i <= x + 1; i++)
                if (i >= 0 && i < w && j >= 0 && j < h) heads += from[(size_t)j * w + i] == 1;
        next = heads == 1 || heads == 2 ? 1 : 3;
    }
    if (in) to[(size_t)y * w + x] = next;
    if (COUNT) {
        const int heads = __syncthreads_count(next == 1), tails = __syncthreads_count(next == 2);
        if (threadIdx.x == 0 && threadIdx.y == 0) {
            if (heads) atomicAdd(&count[0], heads);
            if (tails) atomicAdd(&count[1], tails);
        }
    }
}

int main(int argc, char** argv)
{
    const int w = argc > 1 ? atoi(argv[1]) : 256, h = argc > 2 ? atoi(argv[2]) : 256;
    const int steps = argc > 3 ? atoi(argv[3]) : 20, every = argc > 4 ? atoi(argv[4]) : 10;
    const unsigned seed = argc > 5 ? (unsigned)atoi(argv[5]) : 1;
    if (w < 1 || h < 1 || steps < 0 || every < 1) { fprintf(stderr, "width height steps every seed\n"); return 2; }

    const size_t cells = (size_t)w * h;
    unsigned char *now, *then;
    unsigned* count;
    cudaMalloc((void**)&now, cells);
    cudaMalloc((void**)&then, cells);
    cudaMalloc((void**)&count, 2 * sizeof(unsigned));
    cudaMemset(then, 0, cells);
    cudaMemset(count, 0, 2 * sizeof(unsigned));

    const dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    sow<<<grid, block>>>(now, w, h, seed);
    for (int s = 1; s <= steps; s++) {
        const bool due = s % every == 0 || s == steps;
        if (due) {
            cudaMemset(count, 0, 2 * sizeof(unsigned));
            step<true><<<grid, block>>>(now, then, w, h, count);
        } else {
            step<false><<<grid, block>>>(now, then, w, h, count);
        }
        unsigned char* t = now; now = then; then = t;
        if (due) {
            unsigned got[2];
            cudaMemcpy(got, count, sizeof got, cudaMemcpyDeviceToHost);
            printf("step %d heads %u tails %u\n", s, got[0], got[1]);
        }
    }

    std::vector<unsigned char> end(cells);
    cudaMemcpy(end.data(), now, cells, cudaMemcpyDeviceToHost);
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < cells; i++) hash = (hash ^ end[i]) * 16777619u;
    printf("%08x\n", hash);
    const cudaError_t e = cudaDeviceSynchronize();
    cudaFree(now); cudaFree(then); cudaFree(count);
    return e == cudaSuccess ? 0 : 1;
}
