// Greedy choice of outposts: in each round the one that sees the most sites that nobody sees yet.
#include <cuda_runtime.h>

__global__ void outpost_map(const int* site, unsigned* map, int sets, int size, int words) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)sets * size) return;
    int s = (int)(i / size);
    int v = site[i];
    atomicOr(&map[(size_t)s * words + (v >> 5)], 1u << (v & 31));
}

__global__ void outpost_gain(const unsigned* map, const unsigned* covered, int* value, int sets, int words) {
    int s = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (s >= sets) return;
    int gain = 0;
    for (int w = lane; w < words; w += 32) gain += __popc(map[(size_t)s * words + w] & ~covered[w]);
    for (int d = 16; d; d >>= 1) gain += __shfl_down_sync(0xffffffffu, gain, d);
    if (lane == 0) value[s] = gain;
}

__global__ void outpost_take(const unsigned* map, unsigned* covered, const int* value, int* picks, int* gains,
                             int round, int sets, int words) {
    __shared__ int most[256], who[256];
    int t = threadIdx.x;
    most[t] = 0;
    who[t] = -1;
    for (int s = t; s < sets; s += 256)
        if (value[s] > most[t]) {
            most[t] = value[s];
            who[t] = s;
        }
    __syncthreads();
    for (int d = 128; d; d >>= 1) {
        if (t < d && most[t + d] > most[t]) {
            most[t] = most[t + d];
            who[t] = who[t + d];
        }
        __syncthreads();
    }
    int gain = most[0], pick = who[0];
    if (pick >= 0)
        for (int w = threadIdx.x; w < words; w += blockDim.x) covered[w] |= map[(size_t)pick * words + w];
    __syncthreads();
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
    int* value;
    cudaMalloc(&map, cells * sizeof(unsigned));
    cudaMalloc(&covered, words * sizeof(unsigned));
    cudaMalloc(&value, sets * sizeof(int));
    cudaMemset(map, 0, cells * sizeof(unsigned));
    cudaMemset(covered, 0, words * sizeof(unsigned));
    long long named = (long long)sets * size;
    outpost_map<<<(unsigned)((named + 255) / 256), 256>>>(site, map, sets, size, words);
    for (int r = 0; r < rounds; r++) {
        outpost_gain<<<(sets + 3) / 4, 128>>>(map, covered, value, sets, words);
        outpost_take<<<1, 256>>>(map, covered, value, picks, gains, r, sets, words);
    }
    cudaFree(map);
    cudaFree(covered);
    cudaFree(value);
}
