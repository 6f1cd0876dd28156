// Random walks in a maze. mazewalk WIDTH HEIGHT WALKERS STEPS SEED
// Every walker starts in the middle cell and makes at most STEPS moves to one of the four neighbours; a move into a wall
// is a wait; who leaves the rectangle has escaped. Counted: escapes by side, escape times in 64 bins, visits of cells
// (modulo 2^32); kept: the last cell of each walker, -1 - side for an escaped one.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define BINS 64

__host__ __device__ inline unsigned long long mix(unsigned long long z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

__device__ __forceinline__ bool wall(int x, int y, int width, unsigned long long seed)
{
    return (mix(seed ^ 0x5bf03635ull ^ ((unsigned long long)y * width + x) << 20) & 7) == 0;
}

__global__ void walk(int width, int height, int walkers, int steps, unsigned long long seed,
                     unsigned* escapes, unsigned* times, unsigned* visits, int* last)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= walkers) return;
    int x = width / 2, y = height / 2, side = -1;
    for (int t = 0; t < steps; ++t) {
        unsigned long long draw = mix(seed + (unsigned long long)i * steps + t);
        int d = (int)(draw >> 62), nx = x, ny = y;
        if (d == 0) ++nx;
        else if (d == 1) --nx;
        else if (d == 2) ++ny;
        else --ny;
        if (nx < 0 || nx >= width || ny < 0 || ny >= height) {
            side = d;
            atomicAdd(&escapes[d], 1u);
            atomicAdd(&times[(long long)t * BINS / steps], 1u);
            break;
        }
        if (!wall(nx, ny, width, seed)) { x = nx; y = ny; }
        atomicAdd(&visits[(size_t)y * width + x], 1u);
    }
    last[i] = side < 0 ? y * width + x : -1 - side;
}

int main(int argc, char** argv)
{
    int width = argc > 1 ? atoi(argv[1]) : 0, height = argc > 2 ? atoi(argv[2]) : 0;
    int walkers = argc > 3 ? atoi(argv[3]) : 0, steps = argc > 4 ? atoi(argv[4]) : 0;
    unsigned long long seed = argc > 5 ? strtoull(argv[5], nullptr, 10) : 0;
    if (argc != 6 || width < 1 || width > 4096 || height < 1 || height > 4096 || walkers < 1 || walkers > 10000000 ||
        steps < 1 || steps > 100000) {
        fprintf(stderr, "mazewalk WIDTH HEIGHT WALKERS STEPS SEED\n");
        return 2;
    }
    size_t cells = (size_t)width * height;
    unsigned *escapes, *times, *visits;
    int* last;
    cudaMalloc(&escapes, 4 * sizeof(unsigned));
    cudaMalloc(&times, BINS * sizeof(unsigned));
    cudaMalloc(&visits, cells * sizeof(unsigned));
    cudaMalloc(&last, walkers * sizeof(int));
    cudaMemset(escapes, 0, 4 * sizeof(unsigned));
    cudaMemset(times, 0, BINS * sizeof(unsigned));
    cudaMemset(visits, 0, cells * sizeof(unsigned));

    walk<<<(walkers + 127) / 128, 128>>>(width, height, walkers, steps, seed, escapes, times, visits, last);

    unsigned hescapes[4], htimes[BINS];
    std::vector<unsigned> hvisits(cells);
    std::vector<int> hlast(walkers);
    cudaMemcpy(hescapes, escapes, sizeof(hescapes), cudaMemcpyDeviceToHost);
    cudaMemcpy(htimes, times, sizeof(htimes), cudaMemcpyDeviceToHost);
    cudaMemcpy(hvisits.data(), visits, cells * sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaMemcpy(hlast.data(), last, walkers * sizeof(int), cudaMemcpyDeviceToHost);
    if (cudaDeviceSynchronize() != cudaSuccess) { fprintf(stderr, "device error\n"); return 1; }

    size_t top = 0;
    unsigned long long sum = 0;
    for (size_t c = 0; c < cells; ++c) {
        if (hvisits[c] > hvisits[top]) top = c;
        sum = mix(sum ^ hvisits[c]);
    }
    for (int i = 0; i < walkers; ++i) sum = mix(sum ^ (unsigned)hlast[i]);
    printf("escapes %u %u %u %u\n", hescapes[0], hescapes[1], hescapes[2], hescapes[3]);
    printf("times");
    for (int b = 0; b < BINS; ++b) printf(" %u", htimes[b]);
    printf("\nbusiest %zu %zu with %u\n", top % width, top / width, hvisits[top]);
    printf("sum %016llx\n", sum);
    cudaFree(escapes);
    cudaFree(times);
    cudaFree(visits);
    cudaFree(last);
    return 0;
}
