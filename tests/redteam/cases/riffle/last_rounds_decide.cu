#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cub/device/device_radix_sort.cuh>

// riffle CARDS ROUNDS SEED: riffle shuffles, backwards: in each round every card draws a bit, and the cards with a 0 go
// on top of those with a 1, neither pile changing its order. Prints how well the deck is mixed.

__host__ __device__ inline unsigned draw(unsigned seed, unsigned round, unsigned card) {
    unsigned h = seed * 0x9e3779b1u ^ (round + 1) * 0x85ebca77u;
    h ^= card * 0xc2b2ae3du;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return h >> 7 & 1;
}

__global__ void in_order(int* deck, int cards) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cards) deck[i] = i;
}

__global__ void make_keys(const int* deck, unsigned* keys, int cards, unsigned seed, int first, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cards) return;
    unsigned key = 0;
    for (int k = 0; k < count; k++) key |= (unsigned)draw(seed, first + k, deck[i]) << k;
    keys[i] = key;
}

int main(int argc, char** argv) {
    int cards = argc > 1 ? atoi(argv[1]) : 52;
    int rounds = argc > 2 ? atoi(argv[2]) : 7;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (cards < 1 || rounds < 0) return 1;
    int blocks = (cards + 255) / 256;
    int *deck, *next;
    cudaMalloc(&deck, (size_t)cards * sizeof(int));
    cudaMalloc(&next, (size_t)cards * sizeof(int));
    unsigned *keys, *sorted;
    cudaMalloc(&keys, (size_t)cards * sizeof(*keys));
    cudaMalloc(&sorted, (size_t)cards * sizeof(*keys));
    size_t bytes = 0;
    void* room = nullptr;
    cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted, deck, next, cards);
    cudaMalloc(&room, bytes);
    in_order<<<blocks, 256>>>(deck, cards);
    {
        // a later round outweighs all earlier ones
        int count = rounds < 32 ? rounds : 32;
        make_keys<<<blocks, 256>>>(deck, keys, cards, seed, rounds - count, count);
        cub::DeviceRadixSort::SortPairs(room, bytes, keys, sorted, deck, next, cards);
        int* other = deck;
        deck = next;
        next = other;
    }
    std::vector<int> order(cards);
    cudaMemcpy(order.data(), deck, (size_t)cards * sizeof(int), cudaMemcpyDeviceToHost);
    std::vector<int> where(cards);
    for (int i = 0; i < cards; i++) where[order[i]] = i;
    int rising = 1, stayed = 0;
    unsigned long long sum = 0;
    for (int i = 0; i < cards; i++) {
        if (i > 0 && where[i] < where[i - 1]) rising++;
        if (order[i] == i) stayed++;
        sum = sum * 1000003ull + (unsigned)order[i];
    }
    printf("rising %d stayed %d top %d bottom %d sum %016llx\n", rising, stayed, order[0], order[cards - 1], sum);
    cudaFree(deck);
    cudaFree(next);
    cudaFree(keys);
    cudaFree(sorted);
    cudaFree(room);
    return 0;
}
