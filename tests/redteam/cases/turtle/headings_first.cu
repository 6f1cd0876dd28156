// Follows a turtle that draws on a grid. Each command is a byte: its low two bits are quarter turns to the left, its
// high six bits how many cells to go forward then. The turtle begins at (0, 0) and looks along x.
// xs[i], ys[i] is where it is after command i. farthest[0] is the largest |x| + |y| of these places, and farthest[1]
// the first command that leads to one so far away.

#include <cub/cub.cuh>

struct Sum {
    __host__ __device__ unsigned char operator()(unsigned char a, unsigned char b) const { return a + b; }
};

__global__ void single_steps(const unsigned char *__restrict__ commands, const unsigned char *__restrict__ headings,
                             int *__restrict__ xs, int *__restrict__ ys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int cells = commands[i] >> 2;
    int along = headings[i] & 2 ? -cells : cells;
    xs[i] = headings[i] & 1 ? 0 : along;
    ys[i] = headings[i] & 1 ? along : 0;
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
    unsigned char *headings;
    unsigned long long *best;
    void *room;
    size_t bytes = 0, more = 0;
    cub::DeviceScan::InclusiveScan(nullptr, bytes, commands, (unsigned char *)nullptr, Sum(), n);
    cub::DeviceScan::InclusiveSum(nullptr, more, xs, xs, n);
    bytes = bytes > more ? bytes : more;
    cudaMallocAsync(&room, bytes, 0);
    cudaMallocAsync(&headings, n, 0);
    cudaMallocAsync(&best, sizeof(*best), 0);
    cudaMemsetAsync(best, 0, sizeof(*best), 0);
    cub::DeviceScan::InclusiveScan(room, bytes, commands, headings, Sum(), n);
    single_steps<<<(n + 255) / 256, 256>>>(commands, headings, xs, ys, n);
    cub::DeviceScan::InclusiveSum(room, bytes, xs, xs, n);
    cub::DeviceScan::InclusiveSum(room, bytes, ys, ys, n);
    find_farthest<<<(n + 255) / 256, 256>>>(xs, ys, best, n);
    tell_farthest<<<1, 1>>>(best, farthest);
    cudaFreeAsync(room, 0);
    cudaFreeAsync(headings, 0);
    cudaFreeAsync(best, 0);
}
