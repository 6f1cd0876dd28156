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

// A game a thread: how many were won, how many throws they took, and how many the longest.
__global__ void play(long long games, unsigned long long seed, unsigned long long* sums) {
    long long g = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (g >= games) return;
    bool won;
    int many = game(seed, (unsigned long long)g * 256, won);
    if (won) atomicAdd(sums, 1ull);
    atomicAdd(sums + 1, (unsigned long long)many);
    atomicMax(sums + 2, (unsigned long long)many);
}

int main(int argc, char** argv) {
    long long games = argc > 1 ? atoll(argv[1]) : 1000000;
    unsigned long long seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1, *sums, found[3] = {};
    cudaMalloc(&sums, sizeof(found));
    cudaMemset(sums, 0, sizeof(found));
    if (games > 0) play<<<(unsigned)((games + 255) / 256), 256>>>(games, seed, sums);
    cudaMemcpy(found, sums, sizeof(found), cudaMemcpyDeviceToHost);
    printf("games %lld won %llu throws %llu longest %llu\n", games, found[0], found[1], found[2]);
    cudaFree(sums);
    return 0;
}
