// Random walks in a maze. mazewalk WIDTH HEIGHT WALKERS STEPS SEED
// Every walker starts in the middle cell and makes at most STEPS moves to one of the four neighbours; a move into a wall
// is a wait; who leaves the rectangle has escaped. Counted: escapes by side, escape times in 64 bins, visits of cells
// (modulo 2^32); kept: the last cell of each walker, -1 - side for an escaped one.
#include <algorithm>
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

// The walls do not change: they go into a bitmap (2 MB at most) once.
__device__ unsigned wall_bits[4096 * 4096 / 32];
__device__ int next_walker;

__global__ void build(int width, int cells, unsigned long long seed)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c == 0) next_walker = 0;
    bool w = c < cells && wall(c % width, c / width, width, seed);
    unsigned word = __ballot_sync(0xffffffffu, w);
    if ((threadIdx.x & 31) == 0 && c < cells) wall_bits[c >> 5] = word;
}

// A lane whose walker has escaped takes the next one from the queue at once, so that warps stay full; escapes and times
// are counted in shared memory first. Which lane walks for whom does not matter: the draws hang on walker and step alone.
__global__ void __launch_bounds__(128) walk(int width, int height, int walkers, int steps, unsigned long long seed,
                                            unsigned* escapes, unsigned* times, unsigned* visits, int* last)
{
    __shared__ unsigned counts[4 + BINS];
    for (int k = threadIdx.x; k < 4 + BINS; k += blockDim.x) counts[k] = 0;
    __syncthreads();
    int i = -1, t = 0, x = 0, y = 0;
    for (;;) {
        if (i < 0) {
            i = atomicAdd(&next_walker, 1);
            if (i >= walkers) break;
            t = 0;
            x = width / 2;
            y = height / 2;
        }
        int d = (int)(mix(seed + (unsigned long long)i * steps + t) >> 62);
        int nx = x + (d == 0) - (d == 1), ny = y + (d == 2) - (d == 3);
        if ((unsigned)nx >= (unsigned)width || (unsigned)ny >= (unsigned)height) {
            atomicAdd(&counts[d], 1u);
            atomicAdd(&counts[4 + (long long)t * BINS / steps], 1u);
            last[i] = -1 - d;
            i = -1;
            continue;
        }
        int c = ny * width + nx;
        if (wall_bits[c >> 5] >> (c & 31) & 1) c = y * width + x;
        else { x = nx; y = ny; }
        atomicAdd(&visits[c], 1u);
        if (++t == steps) {
            last[i] = c;
            i = -1;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 4 + BINS; k += blockDim.x)
        if (counts[k]) atomicAdd(k < 4 ? &escapes[k] : &times[k - 4], counts[k]);
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

    build<<<(int)((cells + 255) / 256), 256>>>(width, (int)cells, seed);
    walk<<<std::min((walkers + 127) / 128, 1056), 128>>>(width, height, walkers, steps, seed, escapes, times, visits, last);

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
