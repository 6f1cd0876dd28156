// A lattice gas: up to four particles a cell, one a direction (bits 0..3: east, north, west, south), bit 4 marks a wall.
// In a step the particles of a cell meet (head-on pairs turn by a quarter, walls throw back), then each moves on by one cell.
// The box is a torus. Arguments: width, height, steps.
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
#include <cuda_runtime.h>

__host__ __device__ inline unsigned meet(unsigned cell) {
    unsigned wall = cell & 16u, gas = cell & 15u;
    if (wall) return wall | ((gas << 2 | gas >> 2) & 15u);
    if (gas == 5u || gas == 10u) return gas ^ 15u;
    return gas;
}

__global__ void seed(unsigned char* cells, int width, int height) {
    size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (at >= (size_t)width * height) return;
    unsigned v = (unsigned)at * 2654435761u + 12345u;
    v ^= v >> 15;
    v *= 2246822519u;
    v ^= v >> 13;
    v *= 3266489917u;
    v ^= v >> 16;
    unsigned cell = 0;
    for (int d = 0; d < 4; ++d)
        if ((v >> (4 * d) & 7u) < 3u) cell |= 1u << d;
    if ((v >> 20 & 31u) == 0u) cell |= 16u;
    cells[at] = (unsigned char)cell;
}

// A block reads its cells and their rim before it writes, so one box is enough and half of the traffic goes.
__global__ void step(unsigned char* cells, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    bool inside = x < width && y < height;
    unsigned cell = 0;
    if (inside) {
        int left = x == 0 ? width - 1 : x - 1, right = x == width - 1 ? 0 : x + 1;
        int above = y == 0 ? height - 1 : y - 1, below = y == height - 1 ? 0 : y + 1;
        cell = cells[(size_t)y * width + x] & 16u;
        cell |= meet(cells[(size_t)y * width + left]) & 1u;
        cell |= meet(cells[(size_t)below * width + x]) & 2u;
        cell |= meet(cells[(size_t)y * width + right]) & 4u;
        cell |= meet(cells[(size_t)above * width + x]) & 8u;
    }
    __syncthreads();
    if (inside) cells[(size_t)y * width + x] = (unsigned char)cell;
}

// Particles, momentum to the east, momentum to the north, and the sum of the columns of all particles.
__global__ void weigh(const unsigned char* cells, unsigned long long* totals, int width, int height) {
    unsigned long long mass = 0, east = 0, north = 0, moment = 0;
    size_t all = (size_t)width * height;
    for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < all; at += (size_t)gridDim.x * blockDim.x) {
        unsigned gas = cells[at] & 15u;
        unsigned long long many = __popc(gas);
        mass += many;
        east += (unsigned long long)((long long)(gas & 1u) - (long long)(gas >> 2 & 1u));
        north += (unsigned long long)((long long)(gas >> 1 & 1u) - (long long)(gas >> 3 & 1u));
        moment += many * (at % width);
    }
    atomicAdd(&totals[0], mass);
    atomicAdd(&totals[1], east);
    atomicAdd(&totals[2], north);
    atomicAdd(&totals[3], moment);
}

int main(int argc, char** argv) {
    int width = argc > 1 ? atoi(argv[1]) : 640, height = argc > 2 ? atoi(argv[2]) : 360, steps = argc > 3 ? atoi(argv[3]) : 40;
    if (width < 1 || height < 1 || steps < 0) {
        fprintf(stderr, "usage: vapour width height steps\n");
        return 1;
    }
    size_t all = (size_t)width * height;
    unsigned char *a, *last;
    unsigned long long* totals;
    cudaMalloc((void**)&a, all);
    cudaMalloc((void**)&last, all);
    cudaMalloc((void**)&totals, 4 * sizeof(unsigned long long));
    cudaMemset(totals, 0, 4 * sizeof(unsigned long long));
    cudaMemset(a, 0, all);
    seed<<<(unsigned)((all + 255) / 256), 256>>>(a, width, height);
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    for (int s = 0; s < steps; ++s) step<<<grid, block>>>(a, width, height);
    cudaMemcpy(last, a, all, cudaMemcpyDeviceToDevice);
    cudaMemset(a, 0, all);
    weigh<<<32, 256>>>(last, totals, width, height);
    std::vector<unsigned char> cells(all);
    unsigned long long sums[4];
    cudaMemcpy(cells.data(), last, all, cudaMemcpyDeviceToHost);
    cudaMemcpy(sums, totals, sizeof sums, cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "vapour: a CUDA call failed\n");
        return 2;
    }
    unsigned long long check = 1469598103934665603ull;
    for (unsigned char c : cells) check = (check ^ c) * 1099511628211ull;
    printf("particles %llu east %lld north %lld moment %llu check %016llx\n", sums[0], (long long)sums[1], (long long)sums[2], sums[3],
           check);
    cudaFree(a);
    cudaFree(last);
    cudaFree(totals);
    return 0;
}
