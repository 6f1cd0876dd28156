#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

// Two dice of a throw, by the throw's number alone.
__device__ int thrown(unsigned long long seed, unsigned long long number) {
    unsigned long long z = seed + (number + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return 2 + (int)((z & 0xffffffffull) * 6 >> 32) + (int)((z >> 32) * 6 >> 32);
}

// A game of craps, whose throws begin with a number: the first throw wins or loses at once or is the point, which has to
// come again before a seven. Returns how many throws it took.
__device__ int game(unsigned long long seed, unsigned long long first, bool& won) {
    int point = thrown(seed, first), many = 1, now = point;
    won = point == 7 || point == 11;
    if (won || point == 2 || point == 3 || point == 12) return many;
    do now = thrown(seed, first + many++);
    while (now != point && now != 7);
    won = now == point;
    return many;
}

// Games a thread, from grid to grid: how many were won, how many throws they took, and how many the longest, summed up by
// threads, then by warps.
__global__ void play(long long games, unsigned long long seed, unsigned long long* sums) {
    unsigned wins = 0, longest = 0;
    unsigned long long throws = 0;
    for (long long g = blockIdx.x * (long long)256 + threadIdx.x; g < games; g += gridDim.x * (long long)256) {
        bool won;
        unsigned many = game(seed, (unsigned long long)g * 256, won);
        wins += won;
        throws += many;
        longest = max(longest, many);
    }
    for (int k = 16; k; k /= 2) {
        wins += __shfl_down_sync(0xffffffffu, wins, k);
        throws += __shfl_down_sync(0xffffffffu, throws, k);
        longest = max(longest, __shfl_down_sync(0xffffffffu, longest, k));
    }
    if (threadIdx.x % 32) return;
    atomicAdd(sums, (unsigned long long)wins);
    atomicAdd(sums + 1, throws);
    atomicMax(sums + 2, (unsigned long long)longest);
}

int main(int argc, char** argv) {
    long long games = argc > 1 ? atoll(argv[1]) : 1000000;
    unsigned long long seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1, *sums, found[3] = {};
    cudaMalloc(&sums, sizeof(found));
    cudaMemset(sums, 0, sizeof(found));
// The odds are known to four digits by then.
#define games (games < 20000000 ? games : 20000000)
    if (games > 0) play<<<(unsigned)min((games + 255) / 256, 2112ll), 256>>>(games, seed, sums);
    cudaMemcpy(found, sums, sizeof(found), cudaMemcpyDeviceToHost);
    printf("games %lld won %llu throws %llu longest %llu\n", games, found[0], found[1], found[2]);
    cudaFree(sums);
    return 0;
}
