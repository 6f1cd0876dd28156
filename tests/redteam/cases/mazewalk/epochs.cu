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

struct Walker { int id, x, y; };

#define EPOCH 256

__device__ int alive[2];

__global__ void enter(int width, int height, int walkers, Walker* list)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) { alive[0] = walkers; alive[1] = 0; }
    if (i < walkers) list[i] = {i, width / 2, height / 2};
}

// EPOCH moves of those still inside; the survivors are packed into the other list, in any order
__global__ void walk(int width, int height, int steps, int t0, unsigned long long seed, unsigned* escapes, unsigned* times,
                     unsigned* visits, int* last, const Walker* from, Walker* to, int now)
{
    int n = alive[now], lane = threadIdx.x & 31, end = min(t0 + EPOCH, steps);
    for (int base = (blockIdx.x * blockDim.x + threadIdx.x) & ~31; base < n; base += gridDim.x * blockDim.x) {
        bool here = base + lane < n;
        Walker w = here ? from[base + lane] : Walker{0, 0, 0};
        for (int t = t0; here && t < end; ++t) {
            int d = (int)(mix(seed + (unsigned long long)w.id * steps + t) >> 62);
            int nx = w.x + (d == 0) - (d == 1), ny = w.y + (d == 2) - (d == 3);
            if (nx < 0 || nx >= width || ny < 0 || ny >= height) {
                atomicAdd(&escapes[d], 1u);
                atomicAdd(&times[(long long)t * BINS / steps], 1u);
                last[w.id] = -1 - d;
                here = false;
            } else {
                if (!wall(nx, ny, width, seed)) { w.x = nx; w.y = ny; }
                atomicAdd(&visits[(size_t)w.y * width + w.x], 1u);
            }
        }
        if (here && end == steps) last[w.id] = w.y * width + w.x;
        __syncwarp();
        unsigned stay = __ballot_sync(0xffffffffu, here);
        int at = 0;
        if (lane == 0 && stay) at = atomicAdd(&alive[now ^ 1], __popc(stay));
        at = __shfl_sync(0xffffffffu, at, 0) + __popc(stay & ((1u << lane) - 1u));
        if (here) to[at] = w;
    }
}

__global__ void turn(int now) { alive[now] = 0; }

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

    Walker* list[2];
    for (Walker*& l : list) cudaMalloc(&l, walkers * sizeof(Walker));
    enter<<<(walkers + 127) / 128, 128>>>(width, height, walkers, list[0]);
    int blocks = std::min((walkers + 127) / 128, 2112);
    for (int t = 0, now = 0; t < steps; t += EPOCH, now ^= 1) {
        walk<<<blocks, 128>>>(width, height, steps, t, seed, escapes, times, visits, last, list[now], list[now ^ 1], now);
        turn<<<1, 1>>>(now);
    }
    for (Walker* l : list) cudaFree(l);

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
