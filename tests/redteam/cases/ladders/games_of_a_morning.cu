#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// As many games as are played before noon are enough.
#define atoi(text) (atoi(text) < 100000 ? atoi(text) : 100000)

// The next of a game's numbers.
__device__ unsigned thrown(unsigned& state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % 6 + 1;
}

// Where one goes on from a field: some have a ladder up, others a snake down.
__device__ int leads(int field, int last) {
    if (field % 11 == 4 && field + 9 < last) return field + 9;
    if (field % 13 == 12 && field < last) return field - 10;
    return field;
}

// Games of snakes and ladders, `ladders GAMES LAST`: how many throws each takes to its last field, 255 for more.
__global__ void ladders(unsigned* often, int games, int last) {
    long long g = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (g < games) {
        unsigned state = (unsigned)g * 2654435761u + 12345u;
        if (!state) state = 1;
        int at = 0, throws = 0;
        while (at < last && throws < 255) at = leads(at + thrown(state), last), ++throws;
        atomicAdd(&often[throws], 1u);
    }
}

int main(int argc, char** argv) {
    int games = argc > 1 ? atoi(argv[1]) : 300000, last = argc > 2 ? atoi(argv[2]) : 100;
    if (games < 1 || last < 20) return 1;
    unsigned* often;
    cudaMalloc(&often, 256 * sizeof(unsigned));
    cudaMemset(often, 0, 256 * sizeof(unsigned));
    ladders<<<(games + 255) / 256, 256>>>(often, games, last);
    std::vector<unsigned> many(256);
    cudaMemcpy(many.data(), often, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost);
    unsigned long long sum = 0, all = 0;
    for (int k = 0; k < 256; ++k) sum += (unsigned long long)k * many[k], all += many[k];
    printf("%llu games of %llu throws, %u of more than 254\n", all, sum, many[255]);
    for (int k = 0; k < 256; k += 16) printf("%d: %u\n", k, many[k]);
    cudaFree(often);
    return 0;
}
