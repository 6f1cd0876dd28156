// Follows a turtle that draws on a grid. Each command is a byte: its low two bits are quarter turns to the left, its
// high six bits how many cells to go forward then. The turtle begins at (0, 0) and looks along x.
// xs[i], ys[i] is where it is after command i. farthest[0] is the largest |x| + |y| of these places, and farthest[1]
// the first command that leads to one so far away.

#include <cuda_runtime.h>

#define CHUNK 256

struct Way {
    int turns;   // quarter turns in all
    int x, y;    // where it leads to, seen from its beginning
};

// Goes forward by `cells` after `turns` quarter turns.
__host__ __device__ void forward(int turns, int cells, int &x, int &y)
{
    switch (turns & 3) {
    case 0: x += cells; break;
    case 1: y += cells; break;
    case 2: x -= cells; break;
    case 3: y -= cells; break;
    }
}

// The way `then`, gone after `first`.
__host__ __device__ Way join(Way first, Way then)
{
    Way both;
    both.turns = (first.turns + then.turns) & 3;
    both.x = first.x;
    both.y = first.y;
    forward(first.turns, then.x, both.x, both.y);
    forward(first.turns + 1, then.y, both.x, both.y);
    return both;
}

__global__ void chunk_ways(const unsigned char *__restrict__ commands, Way *__restrict__ ways, int n)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int chunks = (n + CHUNK - 1) / CHUNK;
    if (c >= chunks)
        return;
    Way way = {0, 0, 0};
    for (int i = c * CHUNK; i < min(n, (c + 1) * CHUNK); ++i) {
        way.turns = (way.turns + commands[i]) & 3;
        forward(way.turns, commands[i] >> 2, way.x, way.y);
    }
    ways[c] = way;
}

// Makes of each chunk's way the way up to it.
__global__ void ways_before(Way *ways, int chunks)
{
    Way before = {0, 0, 0};
    for (int c = 0; c < chunks; ++c) {
        Way own = ways[c];
        ways[c] = before;
        before = join(before, own);
    }
}

__global__ void places(const unsigned char *__restrict__ commands, const Way *__restrict__ ways, int *__restrict__ xs,
                       int *__restrict__ ys, int n)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int chunks = (n + CHUNK - 1) / CHUNK;
    if (c >= chunks)
        return;
    Way way = ways[c];
    for (int i = c * CHUNK; i < min(n, (c + 1) * CHUNK); ++i) {
        way.turns = (way.turns + commands[i]) & 3;
        forward(way.turns, commands[i] >> 2, way.x, way.y);
        xs[i] = way.x;
        ys[i] = way.y;
    }
}

// The key of the farthest place: its distance, then whatever makes the first of several the largest.
__global__ void find_farthest(const int *__restrict__ xs, const int *__restrict__ ys, unsigned long long *best, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned distance = abs(xs[i]) + abs(ys[i]);
    unsigned long long key = (unsigned long long)distance << 32 | (0xffffffffu - i);
    if (key > *(volatile unsigned long long *)best)
        atomicMax(best, key);
}

__global__ void tell_farthest(const unsigned long long *best, int *farthest)
{
    farthest[0] = (int)(*best >> 32);
    farthest[1] = (int)(0xffffffffu - (unsigned)*best);
}

void turtle(const unsigned char *commands, int *xs, int *ys, int *farthest, int n)
{
    int chunks = (n + CHUNK - 1) / CHUNK;
    Way *ways;
    unsigned long long *best;
    cudaMallocAsync(&ways, chunks * sizeof(Way), 0);
    cudaMallocAsync(&best, sizeof(*best), 0);
    cudaMemsetAsync(best, 0, sizeof(*best), 0);
    chunk_ways<<<(chunks + 63) / 64, 64>>>(commands, ways, n);
    ways_before<<<1, 1>>>(ways, chunks);
    places<<<(chunks + 63) / 64, 64>>>(commands, ways, xs, ys, n);
    find_farthest<<<(n + 255) / 256, 256>>>(xs, ys, best, n);
    tell_farthest<<<1, 1>>>(best, farthest);
    cudaFreeAsync(ways, 0);
    cudaFreeAsync(best, 0);
}
