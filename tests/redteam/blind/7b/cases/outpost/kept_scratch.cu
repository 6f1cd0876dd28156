// Greedy choice of outposts: in each round the one that sees the most sites that nobody sees yet.
#include <cuda_runtime.h>

__global__ void outpost_map(const int* site, unsigned* map, int sets, int size, int words) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)sets * size) return;
    int s = (int)(i / size);
    int v = site[i];
    atomicOr(&map[(size_t)s * words + (v >> 5)], 1u << (v & 31));
}

__global__ void outpost_gain(const unsigned* map, const unsigned* covered, unsigned long long* best, int sets,
                             int words) {
    int s = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (s >= sets) return;
    int gain = 0;
    for (int w = lane; w < words; w += 32) gain += __popc(map[(size_t)s * words + w] & ~covered[w]);
    for (int d = 16; d; d >>= 1) gain += __shfl_down_sync(0xffffffffu, gain, d);
    if (lane == 0) atomicMax(best, ((unsigned long long)gain << 32) | (0xffffffffu - (unsigned)s));
}

__global__ void outpost_take(const unsigned* map, unsigned* covered, unsigned long long* best, int* picks, int* gains,
                             int round, int words, bool final) {
    unsigned long long key = *best;
    int gain = (int)(key >> 32);
    int pick = gain > 0 ? (int)(0xffffffffu - (unsigned)key) : -1;
    if (pick >= 0)
        for (int w = threadIdx.x; w < words; w += blockDim.x)
            covered[w] = final ? 0u : covered[w] | map[(size_t)pick * words + w];
    __syncthreads();
    if (threadIdx.x == 0) {
        picks[round] = pick;
        gains[round] = gain;
        *best = 0;
    }
}

// site[s * size + i]: the sites that outpost s sees, some of them named twice.
void outpost(const int* site, int* picks, int* gains, int sets, int size, int sites, int rounds) {
    int words = (sites + 31) / 32;
    size_t cells = (size_t)sets * words;
    static unsigned *map = nullptr, *covered = nullptr;   // kept from call to call; the last round leaves them clean
    static unsigned long long* best = nullptr;
    static size_t room = 0;
    static int across = 0;
    if (!best) {
        cudaMalloc(&best, sizeof(unsigned long long));
        cudaMemset(best, 0, sizeof(unsigned long long));
    }
    if (cells > room) {
        cudaFree(map);
        cudaMalloc(&map, cells * sizeof(unsigned));
        room = cells;
    }
    if (words > across) {
        cudaFree(covered);
        cudaMalloc(&covered, words * sizeof(unsigned));
        cudaMemset(covered, 0, words * sizeof(unsigned));
        across = words;
    }
    cudaMemset(map, 0, cells * sizeof(unsigned));
    long long named = (long long)sets * size;
    outpost_map<<<(unsigned)((named + 255) / 256), 256>>>(site, map, sets, size, words);
    for (int r = 0; r < rounds; r++) {
        outpost_gain<<<(sets + 3) / 4, 128>>>(map, covered, best, sets, words);
        outpost_take<<<1, 256>>>(map, covered, best, picks, gains, r, words, r + 1 == rounds);
    }
}
