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

__global__ void count_zeros(const int* deck, int* zeros, int cards, unsigned seed, unsigned round) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool zero = i < cards && draw(seed, round, deck[i]) == 0;
    int all = __syncthreads_count(zero);
    if (threadIdx.x == 0) zeros[blockIdx.x] = all;
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

__global__ void pile_up(const int* deck, int* next, const int* before, int cards, unsigned seed, unsigned round) {
    __shared__ int sums[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int card = i < cards ? deck[i] : 0;
    int zero = i < cards && draw(seed, round, card) == 0;
    unsigned votes = __ballot_sync(0xffffffffu, zero);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) sums[warp] = __popc(votes);
    __syncthreads();
    int inside = __popc(votes & ((1u << lane) - 1));
    for (int k = 0; k < warp; k++) inside += sums[k];
    if (i >= cards) return;
    int rank = before[blockIdx.x] + inside;     // zeros in front of this card
    next[zero ? rank : before[gridDim.x] + i - rank] = card;
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
    cudaMalloc(&zeros, blocks * sizeof(int));
    cudaMalloc(&before, (blocks + 1) * sizeof(int));
    in_order<<<blocks, 256>>>(deck, cards);
    for (int round = 0; round < rounds; round++) {
        count_zeros<<<blocks, 256>>>(deck, zeros, cards, seed, round);
        add_up<<<1, 1024>>>(zeros, before, blocks);
        pile_up<<<blocks, 256>>>(deck, next, before, cards, seed, round);
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
