// Sealed-bid auction of many items: the highest bidder wins (the lower number among equals) and pays the best
// price that anybody else has offered, or the reserve if that is more. A bidder may bid for an item repeatedly.
#define THREADS 128
#define NOBODY 0x7fffffff

struct Top {
    int first;     // the best price
    int who;       // who offers it
    int second;    // the best price of all others
};

__device__ void offer(Top& t, int price, int who)
{
    if (who == t.who) {
        t.first = max(t.first, price);
    } else if (price > t.first || (price == t.first && who < t.who)) {
        t.second = t.first;
        t.first = price;
        t.who = who;
    } else {
        t.second = max(t.second, price);
    }
}

__device__ void merge(Top& t, const Top& o)
{
    if (o.who == t.who) {
        t.first = max(t.first, o.first);
        t.second = max(t.second, o.second);
    } else if (o.first > t.first || (o.first == t.first && o.who < t.who)) {
        t.second = max(t.first, o.second);
        t.first = o.first;
        t.who = o.who;
    } else {
        t.second = max(t.second, o.first);
    }
}

__global__ void auction(const int* __restrict__ item, const int* __restrict__ bidder, const int* __restrict__ price,
                        const int* __restrict__ reserve, int* __restrict__ winner, int* __restrict__ paid, int bids,
                        int items)
{
    __shared__ Top tops[THREADS / 32];
    for (int mine = blockIdx.x; mine < items; mine += gridDim.x) {
        Top top = {-1, NOBODY, -1};
        for (int i = threadIdx.x; i < bids; i += THREADS)
            if (item[i] == mine)
                offer(top, price[i], bidder[i]);
        for (int step = 16; step > 0; step /= 2) {
            Top other;
            other.first = __shfl_xor_sync(0xffffffffu, top.first, step);
            other.who = __shfl_xor_sync(0xffffffffu, top.who, step);
            other.second = __shfl_xor_sync(0xffffffffu, top.second, step);
            merge(top, other);
        }
        if (threadIdx.x % 32 == 0)
            tops[threadIdx.x / 32] = top;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < THREADS / 32; ++w)
                merge(top, tops[w]);
            const int least = reserve[mine];
            const bool sold = top.first >= least;
            winner[mine] = sold ? top.who : -1;
            paid[mine] = sold ? max(least, top.second) : 0;
        }
    }
}
