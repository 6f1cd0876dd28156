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
    __shared__ Top tops[THREADS];
    __shared__ int bar;
    const int mine = blockIdx.x;
    if (mine >= items)
        return;
    // two bidders offer at least this much: less can be neither first nor second
    if (threadIdx.x == 0)
        bar = -1;
    __syncthreads();
    Top top = {-1, NOBODY, -1};
    volatile int* level = &bar;
    for (int i = threadIdx.x; i < bids; i += THREADS)
        if (item[i] == mine) {
            const int p = price[i];
            if (p < *level)
                continue;
            const int before = top.second;
            offer(top, p, bidder[i]);
            if (top.second > before)
                atomicMax(&bar, top.second);
        }
    tops[threadIdx.x] = top;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            merge(tops[threadIdx.x], tops[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const int least = reserve[mine];
        const bool sold = tops[0].first >= least;
        winner[mine] = sold ? tops[0].who : -1;
        paid[mine] = sold ? max(least, tops[0].second) : 0;
    }
}
