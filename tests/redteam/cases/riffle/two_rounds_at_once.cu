#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

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

// two rounds at once: the later one's bit counts twice the earlier one's
__device__ __forceinline__ int digit(unsigned seed, int round, int rounds, int card) {
    int d = draw(seed, round, card);
    if (round + 1 < rounds) d += 2 * draw(seed, round + 1, card);
    return d;
}

__global__ void count_digits(const int* deck, int* counts, int cards, unsigned seed, int round, int rounds) {
    __shared__ int four[4];
    if (threadIdx.x < 4) four[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cards) atomicAdd(&four[digit(seed, round, rounds, deck[i])], 1);
    __syncthreads();
    if (threadIdx.x < 4) counts[threadIdx.x * gridDim.x + blockIdx.x] = four[threadIdx.x];
}

// zeros before each block, and of all behind the last
__global__ void add_up(const int* zeros, int* before, int blocks) {
    __shared__ int sums[1024];
    int carried = 0;
    for (int first = 0; first < blocks; first += 1024) {
        int k = first + threadIdx.x;
        int mine = k < blocks ? zeros[k] : 0;
        sums[threadIdx.x] = mine;
        __syncthreads();
        for (int d = 1; d < 1024; d <<= 1) {
            int other = (int)threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
            __syncthreads();
            sums[threadIdx.x] += other;
            __syncthreads();
        }
        if (k < blocks) before[k] = carried + sums[threadIdx.x] - mine;
        carried += sums[1023];
        __syncthreads();
    }
    if (threadIdx.x == 0) before[blocks] = carried;
}

__global__ void pile_up(const int* deck, int* next, const int* before, int cards, unsigned seed, int round, int rounds) {
    __shared__ int sums[4][8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int card = i < cards ? deck[i] : 0;
    int mine = i < cards ? digit(seed, round, rounds, card) : -1;
    int rank = 0;
    for (int d = 0; d < 4; d++) {
        unsigned votes = __ballot_sync(0xffffffffu, mine == d);
        if (lane == 0) sums[d][warp] = __popc(votes);
        if (mine == d) rank = __popc(votes & ((1u << lane) - 1));
    }
    __syncthreads();
    if (mine < 0) return;
    for (int k = 0; k < warp; k++) rank += sums[mine][k];
    next[before[mine * gridDim.x + blockIdx.x] + rank] = card;
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
    int *zeros, *before;
    cudaMalloc(&zeros, 4 * blocks * sizeof(int));
    cudaMalloc(&before, (4 * blocks + 1) * sizeof(int));
    in_order<<<blocks, 256>>>(deck, cards);
    for (int round = 0; round < rounds; round += 2) {
        count_digits<<<blocks, 256>>>(deck, zeros, cards, seed, round, rounds);
        add_up<<<1, 1024>>>(zeros, before, 4 * blocks);
        pile_up<<<blocks, 256>>>(deck, next, before, cards, seed, round, rounds);
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
    cudaFree(zeros);
    cudaFree(before);
    return 0;
}
