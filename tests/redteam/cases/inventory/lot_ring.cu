// First-in-first-out lots of many accounts. Trade t of account a is qty[a * trades + t] at price[...] (cents): positive
// quantities buy a lot, negative ones sell from the oldest lots. Nobody sells short: what a sale asks for beyond
// the holding is dropped. gain: the realised gain of each sale (0 elsewhere); units and book: what is left, and its cost.
#include <cuda_runtime.h>
#include <cstddef>

// The open lots wait in a ring, so that a sale does not walk over other sales to find the next lot and does not
// go back to memory for it.
constexpr int RING = 128;

__global__ void match_lots(const int* qty, const int* price, int* gain, int* units, long long* book, int accounts, int trades)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= accounts) return;
    const int* q = qty + (size_t)a * trades;
    const int* p = price + (size_t)a * trades;
    int* g = gain + (size_t)a * trades;

    int2 ring[RING];
    unsigned oldest = 0, next = 0;
    int held = 0;
    long long cost = 0;
    for (int t = 0; t < trades; ++t) {
        int want = q[t], at = p[t];
        if (want >= 0) {
            if (want > 0) ring[next++ % RING] = make_int2(want, at);
            held += want;
            cost += (long long)want * at;
            g[t] = 0;
            continue;
        }
        int sell = min(-want, held);
        held -= sell;
        long long paid = 0;
        for (int open = sell; open > 0 && oldest != next; ) {
            int2 lot = ring[oldest % RING];
            int part = min(open, lot.x);
            paid += (long long)part * lot.y;
            open -= part;
            ring[oldest % RING].x = lot.x - part;
            if (lot.x == part) ++oldest;
        }
        cost -= paid;
        g[t] = (int)((long long)sell * at - paid);
    }
    units[a] = held;
    book[a] = cost;
}

extern "C" void inventory(const int* qty, const int* price, int* gain, int* units, long long* book, int accounts, int trades)
{
    match_lots<<<(accounts + 127) / 128, 128>>>(qty, price, gain, units, book, accounts, trades);
}
