// Greedy choice of outposts: in each round the one that sees the most sites that nobody sees yet.
#include <cuda_runtime.h>

__global__ void outpost_map(const int* site, unsigned* map, int sets, int size, int words) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)sets * size) return;
    int s = (int)(i / size);
    int v = site[i];
    atomicOr(&map[(size_t)s * words + (v >> 5)], 1u << (v & 31));
}

// Whichever block is the last one to have counted takes the best.
__global__ void outpost_round(const unsigned* map, unsigned* covered, unsigned long long* best, unsigned* counted,
                              int* picks, int* gains, int round, int sets, int words) {
    int s = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (s < sets) {
        int gain = 0;
        for (int w = lane; w < words; w += 32) gain += __popc(map[(size_t)s * words + w] & ~covered[w]);
        for (int d = 16; d; d >>= 1) gain += __shfl_down_sync(0xffffffffu, gain, d);
        if (lane == 0) {
            atomicMax(best, ((unsigned long long)gain << 32) | (0xffffffffu - (unsigned)s));
            __threadfence();
        }
    }
    __shared__ bool final;
    __shared__ unsigned long long key;
    __syncthreads();
    if (threadIdx.x == 0) {
        final = atomicAdd(counted, 1u) == gridDim.x - 1;
        if (final) {
            __threadfence();
            key = atomicExch(best, 0ull);
            *counted = 0;
        }
    }
    __syncthreads();
    if (!final) return;
    int gain = (int)(key >> 32);
    int pick = gain > 0 ? (int)(0xffffffffu - (unsigned)key) : -1;
    if (pick >= 0)
        for (int w = threadIdx.x; w < words; w += blockDim.x) covered[w] |= map[(size_t)pick * words + w];
    if (threadIdx.x == 0) {
        picks[round] = pick;
        gains[round] = gain;
    }
}

// site[s * size + i]: the sites that outpost s sees, some of them named twice.
void outpost(const int* site, int* picks, int* gains, int sets, int size, int sites, int rounds) {
    int words = (sites + 31) / 32;
    size_t cells = (size_t)sets * words;
    unsigned *map, *covered;
    unsigned long long* best;
    cudaMalloc(&map, cells * sizeof(unsigned));
    cudaMalloc(&covered, words * sizeof(unsigned));
    cudaMalloc(&best, 2 * sizeof(unsigned long long));
    cudaMemset(map, 0, cells * sizeof(unsigned));
    cudaMemset(covered, 0, words * sizeof(unsigned));
    cudaMemset(best, 0, 2 * sizeof(unsigned long long));
    unsigned* counted = (unsigned*)(best + 1);
    long long named = (long long)sets * size;
    outpost_map<<<(unsigned)((named + 255) / 256), 256>>>(site, map, sets, size, words);
    for (int r = 0; r < rounds; r++)
        outpost_round<<<(sets + 3) / 4, 128>>>(map, covered, best, counted, picks, gains, r, sets, words);
    cudaFree(map);
    cudaFree(covered);
    cudaFree(best);
}
