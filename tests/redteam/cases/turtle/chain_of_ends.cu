// Follows a turtle that draws on a grid. Each command is a byte: its low two bits are quarter turns to the left, its
// high six bits how many cells to go forward then. The turtle begins at (0, 0) and looks along x.
// xs[i], ys[i] is where it is after command i. farthest[0] is the largest |x| + |y| of these places, and farthest[1]
// the first command that leads to one so far away.

#include <cuda_runtime.h>

#define CHUNK 16
#define BLOCK 128

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


struct Chain {
    unsigned long long best;
    int ticket;   // blocks that have begun
    int done;     // blocks whose end is known
    Way end;      // the end of the last of them
};

__global__ void places(const unsigned char *__restrict__ commands, Chain *chain, int *__restrict__ xs,
                       int *__restrict__ ys, int n)
{
    __shared__ Way ways[BLOCK];
    __shared__ Way before;
    __shared__ int block;
    if (threadIdx.x == 0)
        block = atomicAdd(&chain->ticket, 1);
    __syncthreads();
    long long first = ((long long)block * BLOCK + threadIdx.x) * CHUNK;
    Way way = {0, 0, 0};
    for (int k = 0; k < CHUNK && first + k < n; ++k) {
        way.turns = (way.turns + commands[first + k]) & 3;
        forward(way.turns, commands[first + k] >> 2, way.x, way.y);
    }
    ways[threadIdx.x] = way;
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        Way earlier = {0, 0, 0};
        if (threadIdx.x >= step)
            earlier = ways[threadIdx.x - step];
        __syncthreads();
        ways[threadIdx.x] = join(earlier, ways[threadIdx.x]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        while (*(volatile int *)&chain->done != block)
            __nanosleep(20);
        before = chain->end;
        chain->end = join(before, ways[BLOCK - 1]);
        *(volatile int *)&chain->done = block + 1;
    }
    __syncthreads();
    way = threadIdx.x > 0 ? join(before, ways[threadIdx.x - 1]) : before;
    for (int k = 0; k < CHUNK && first + k < n; ++k) {
        way.turns = (way.turns + commands[first + k]) & 3;
        forward(way.turns, commands[first + k] >> 2, way.x, way.y);
        xs[first + k] = way.x;
        ys[first + k] = way.y;
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
    Chain *chain;
    cudaMallocAsync(&chain, sizeof(Chain), 0);
    cudaMemsetAsync(chain, 0, sizeof(Chain), 0);
    places<<<(n + BLOCK * CHUNK - 1) / (BLOCK * CHUNK), BLOCK>>>(commands, chain, xs, ys, n);
    find_farthest<<<(n + 255) / 256, 256>>>(xs, ys, &chain->best, n);
    tell_farthest<<<1, 1>>>(&chain->best, farthest);
    cudaFreeAsync(chain, 0);
}
