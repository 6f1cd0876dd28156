// Greedy choice of outposts: in each round the one that sees the most sites that nobody sees yet.
#include <cuda_runtime.h>

__global__ void outpost_gain(const int* site, const unsigned* covered, unsigned long long* best, int sets, int size) {
    int s = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (s >= sets) return;
    int gain = 0;
    for (int first = 0; first < size; first += 32) {
        int v = first + lane < size ? site[(size_t)s * size + first + lane] : -1;
        unsigned same = __match_any_sync(0xffffffffu, v);
        bool counts = v >= 0 && lane == __ffs(same) - 1 && !(covered[v >> 5] >> (v & 31) & 1);
        gain += __popc(__ballot_sync(0xffffffffu, counts));
    }
    if (lane == 0) atomicMax(best, ((unsigned long long)gain << 32) | (0xffffffffu - (unsigned)s));
}

__global__ void outpost_take(const int* site, unsigned* covered, unsigned long long* best, int* picks, int* gains,
                             int round, int size) {
    unsigned long long key = *best;
    int gain = (int)(key >> 32);
    int pick = gain > 0 ? (int)(0xffffffffu - (unsigned)key) : -1;
    if (pick >= 0)
        for (int i = threadIdx.x; i < size; i += blockDim.x) {
            int v = site[(size_t)pick * size + i];
            atomicOr(&covered[v >> 5], 1u << (v & 31));
        }
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
    unsigned* covered;
    unsigned long long* best;
    cudaMalloc(&covered, words * sizeof(unsigned));
    cudaMalloc(&best, sizeof(unsigned long long));
    cudaMemset(covered, 0, words * sizeof(unsigned));
    cudaMemset(best, 0, sizeof(unsigned long long));
    for (int r = 0; r < rounds; r++) {
        outpost_gain<<<(sets + 3) / 4, 128>>>(site, covered, best, sets, size);
        outpost_take<<<1, 256>>>(site, covered, best, picks, gains, r, size);
    }
    cudaFree(covered);
    cudaFree(best);
}
