// Sealed-bid auction of many items: the highest bidder wins (the lower number among equals) and pays the best
// price that anybody else has offered, or the reserve if that is more. A bidder may bid for an item repeatedly.
#define THREADS 128

// Prices are below 100,000 (17 bits) and bidders below 5,000 (13 bits): a bid is one word that orders as bids do.
__device__ unsigned word_of(int price, int who)
{
    return (unsigned)price << 13 | (8191u - (unsigned)who);
}

__global__ void auction(const int* __restrict__ item, const int* __restrict__ bidder, const int* __restrict__ price,
                        const int* __restrict__ reserve, int* __restrict__ winner, int* __restrict__ paid, int bids,
                        int items)
{
    __shared__ unsigned best;
    __shared__ int second;
    const int mine = blockIdx.x;
    if (mine >= items)
        return;
    if (threadIdx.x == 0) {
        best = 0;
        second = -1;
    }
    __syncthreads();
    unsigned top = 0;
    for (int i = threadIdx.x; i < bids; i += THREADS)
        if (item[i] == mine)
            top = max(top, word_of(price[i], bidder[i]));
    top = __reduce_max_sync(0xffffffffu, top);
    if (threadIdx.x % 32 == 0)
        atomicMax(&best, top);
    __syncthreads();
    top = best;
    const int who = (int)(8191u - (top & 8191u));
    const int first = top ? (int)(top >> 13) : -1;
    int others = -1;
    for (int i = threadIdx.x; i < bids; i += THREADS)
        if (item[i] == mine && bidder[i] != who)
            others = max(others, price[i]);
    others = __reduce_max_sync(0xffffffffu, others);
    if (threadIdx.x % 32 == 0)
        atomicMax(&second, others);
    __syncthreads();
    if (threadIdx.x == 0) {
        const int least = reserve[mine];
        const bool sold = first >= least;
        winner[mine] = sold ? who : -1;
        paid[mine] = sold ? max(least, second) : 0;
    }
}
