// Order books: each of `instruments` books takes `orders` random limit orders of 64 price levels; an order trades with
// the best of the other side as long as prices meet, and what is left of it stays in the book.
// usage: orderbook instruments orders seed
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

constexpr int levels = 64;

struct Sums {
    unsigned long long traded, notional, resting, check;
};

__device__ unsigned next(unsigned& state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__global__ void simulate(Sums* sums, int instruments, int orders, unsigned seed)
{
    int book = blockIdx.x * blockDim.x + threadIdx.x;
    if (book >= instruments)
        return;
    // The books of a block stand in shared memory, a column to each.
    __shared__ int bids[levels][64];
    __shared__ int asks[levels][64];
    for (int p = 0; p < levels; p++)
        bids[p][threadIdx.x] = asks[p][threadIdx.x] = 0;
    // No ask is below `low`, and no bid above `high`.
    int low = levels;
    int high = -1;
    unsigned state = (seed + 1) * 2654435761u ^ (book + 1) * 2246822519u;
    if (state == 0)
        state = 1;
    unsigned long long traded = 0;
    unsigned long long notional = 0;
    for (int o = 0; o < orders; o++) {
        unsigned draw = next(state);
        bool buys = draw & 1;
        int price = (draw >> 1) & (levels - 1);
        int quantity = 1 + ((draw >> 8) & 127);
        if (buys) {
            for (int p = low; p <= price && quantity > 0; p++) {
                int fill = min((int)asks[p][threadIdx.x], quantity);
                asks[p][threadIdx.x] -= fill;
                quantity -= fill;
                traded += fill;
                notional += (unsigned long long)fill * p;
            }
            if (quantity > 0) {
                bids[price][threadIdx.x] += quantity;
                high = max(high, price);
                low = max(low, price + 1);
            }
        } else {
            for (int p = high; p >= price && quantity > 0; p--) {
                int fill = min((int)bids[p][threadIdx.x], quantity);
                bids[p][threadIdx.x] -= fill;
                quantity -= fill;
                traded += fill;
                notional += (unsigned long long)fill * p;
            }
            if (quantity > 0) {
                asks[price][threadIdx.x] += quantity;
                low = min(low, price);
                high = min(high, price - 1);
            }
        }
    }
    unsigned long long resting = 0;
    unsigned long long check = book;
    for (int p = 0; p < levels; p++) {
        resting += bids[p][threadIdx.x] + asks[p][threadIdx.x];
        check = check * 6364136223846793005ull + (unsigned)(bids[p][threadIdx.x] * 3 + asks[p][threadIdx.x]);
    }
    atomicAdd(&sums->traded, traded);
    atomicAdd(&sums->notional, notional);
    atomicAdd(&sums->resting, resting);
    atomicAdd(&sums->check, check);
}

int main(int count, char** words)
{
    if (count != 4) {
        fprintf(stderr, "usage: orderbook instruments orders seed\n");
        return 2;
    }
    int instruments = atoi(words[1]);
    int orders = atoi(words[2]);
    unsigned seed = (unsigned)strtoul(words[3], nullptr, 10);
    Sums* sums;
    Sums out;
    cudaMalloc(&sums, sizeof(Sums));
    cudaMemset(sums, 0, sizeof(Sums));
    if (instruments > 0)
        simulate<<<(instruments + 63) / 64, 64>>>(sums, instruments, orders, seed);
    if (cudaMemcpy(&out, sums, sizeof(Sums), cudaMemcpyDeviceToHost) != cudaSuccess) {
        fprintf(stderr, "the simulation failed\n");
        return 1;
    }
    cudaFree(sums);
    printf("traded %llu\nnotional %llu\nresting %llu\ncheck %016llx\n", out.traded, out.notional, out.resting, out.check);
    return 0;
}
