// Greedy choice of outposts: in each round the one that sees the most sites that nobody sees yet.
#include <cuda_runtime.h>

__global__ void outpost_map(const int* site, unsigned* map, int sets, int size, int words) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)sets * size) return;
    int s = (int)(i / size);
    int v = site[i];
    atomicOr(&map[(size_t)s * words + (v >> 5)], 1u << (v & 31));
}

__global__ void outpost_first(const unsigned* map, int* value, int sets, int words) {
    int s = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (s >= sets) return;
    int gain = 0;
    for (int w = lane; w < words; w += 32) gain += __popc(map[(size_t)s * words + w]);
    gain = __reduce_add_sync(0xffffffffu, gain);
    if (lane == 0) value[s] = gain;
}

__global__ void outpost_best(const int* value, unsigned long long* best, int sets) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned gain = s < sets ? value[s] : 0;
    unsigned most = __reduce_max_sync(0xffffffffu, gain);
    unsigned tied = __ballot_sync(0xffffffffu, gain == most && s < sets);
    if (tied && (threadIdx.x & 31) == __ffs(tied) - 1)
        atomicMax(best, ((unsigned long long)gain << 32) | (0xffffffffu - (unsigned)s));
}

// Of the sites that have just been covered, what each outpost loses.
__global__ void outpost_lose(const unsigned* map, const unsigned* fresh, const int* list, const int* listed,
                             int* value, int sets, int words) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= sets) return;
    int lost = 0, many = *listed;
    for (int i = 0; i < many; i++) lost += __popc(map[(size_t)s * words + list[i]] & fresh[list[i]]);
    value[s] -= lost;
}

__global__ void outpost_take(const unsigned* map, unsigned* covered, unsigned* fresh, int* list, int* listed,
                             unsigned long long* best, int* picks, int* gains, int round, int words) {
    unsigned long long key = *best;
    int gain = (int)(key >> 32);
    int pick = gain > 0 ? (int)(0xffffffffu - (unsigned)key) : -1;
    __shared__ int many;
    if (threadIdx.x == 0) many = 0;
    __syncthreads();
    if (pick >= 0)
        for (int w = threadIdx.x; w < words; w += blockDim.x) {
            unsigned add = map[(size_t)pick * words + w] & ~covered[w];
            if (add) {
                covered[w] |= add;
                fresh[w] = add;
                list[atomicAdd(&many, 1)] = w;
            }
        }
    __syncthreads();
    if (threadIdx.x == 0) {
        *listed = many;
        picks[round] = pick;
        gains[round] = gain;
        *best = 0;
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
    cudaMalloc(&best, sizeof(unsigned long long));
    cudaMemset(map, 0, cells * sizeof(unsigned));
    cudaMemset(covered, 0, words * sizeof(unsigned));
    cudaMemset(best, 0, sizeof(unsigned long long));
    long long named = (long long)sets * size;
    outpost_map<<<(unsigned)((named + 255) / 256), 256>>>(site, map, sets, size, words);
    unsigned* fresh;
    int *list, *listed, *value;
    cudaMalloc(&fresh, words * sizeof(unsigned));
    cudaMalloc(&list, words * sizeof(int));
    cudaMalloc(&listed, sizeof(int));
    cudaMalloc(&value, sets * sizeof(int));
    outpost_first<<<(sets + 3) / 4, 128>>>(map, value, sets, words);
    for (int r = 0; r < rounds; r++) {
        outpost_best<<<(sets + 127) / 128, 128>>>(value, best, sets);
        outpost_take<<<1, 256>>>(map, covered, fresh, list, listed, best, picks, gains, r, words);
        if (r + 1 < rounds) outpost_lose<<<(sets + 127) / 128, 128>>>(map, fresh, list, listed, value, sets, words);
    }
    cudaFree(fresh);
    cudaFree(list);
    cudaFree(listed);
    cudaFree(value);
    cudaFree(map);
    cudaFree(covered);
    cudaFree(best);
}
