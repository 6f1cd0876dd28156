// First-in-first-out lots of many accounts. Trade t of account a is qty[a * trades + t] at price[...] (cents): positive
// quantities buy a lot, negative ones sell from the oldest lots. Nobody sells short: what a sale asks for beyond
// the holding is dropped. gain: the realised gain of each sale (0 elsewhere); units and book: what is left, and its cost.
#include <cuda_runtime.h>
#include <cstddef>

// Running totals need 32 bits only: F(u), what the first u units ever bought have cost, may wrap, but a sale costs the
// difference of two of its values, at most 10^7, which comes out right modulo 2^32. The book does not, and has 64 bits.
__global__ void match_lots(const int* qty, const int* price, int* gain, int* units, long long* book, int accounts, int trades)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= accounts) return;
    const int* q = qty + (size_t)a * trades;
    const int* p = price + (size_t)a * trades;
    int* g = gain + (size_t)a * trades;

    int bought = 0, sold = 0, head = -1, reach = 0;
    unsigned spent = 0, upto = 0, last = 0, before = 0;
    long long cost = 0;
    for (int t = 0; t < trades; ++t) {
        int want = q[t];
        unsigned at = p[t];
        if (want >= 0) {
            bought += want;
            spent += want * at;
            cost += (long long)want * at;
            g[t] = 0;
            continue;
        }
        int goal = min(sold - want, bought);
        while (reach < goal) {
            ++head;
            int lot = q[head];
            if (lot <= 0) continue;
            last = p[head];
            reach += lot;
            upto += lot * last;
        }
        unsigned after = upto - (reach - goal) * last;
        unsigned paid = after - before;
        g[t] = (int)((goal - sold) * at - paid);
        cost -= paid;
        before = after;
        sold = goal;
    }
    units[a] = bought - sold;
    book[a] = cost;
}

extern "C" void inventory(const int* qty, const int* price, int* gain, int* units, long long* book, int accounts, int trades)
{
    match_lots<<<(accounts + 127) / 128, 128>>>(qty, price, gain, units, book, accounts, trades);
}
