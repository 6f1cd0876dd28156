// First-in-first-out lots of many accounts. Trade t of account a is qty[a * trades + t] at price[...] (cents): positive
// quantities buy a lot, negative ones sell from the oldest lots. Nobody sells short: what a sale asks for beyond
// the holding is dropped. gain: the realised gain of each sale (0 elsewhere); units and book: what is left, and its cost.
#include <cuda_runtime.h>
#include <cstddef>

// No sale is above 100 units and no price above 100000, so a sale's proceeds and its cost stay at or below 10^7, and every
// partial sum is a whole number below 2^24: one float fma a lot is exact. The book does not fit and stays an integer.
__global__ void match_lots(const int* qty, const int* price, int* gain, int* units, long long* book, int accounts, int trades)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= accounts) return;
    const int* q = qty + (size_t)a * trades;
    const int* p = price + (size_t)a * trades;
    int* g = gain + (size_t)a * trades;

    int head = 0, left = 0;      // the oldest open lot, and what is left of it once it has been opened
    int held = 0;
    long long cost = 0;
    for (int t = 0; t < trades; ++t) {
        int want = q[t];
        if (want >= 0) {
            held += want;
            cost += (long long)want * p[t];
            g[t] = 0;
            continue;
        }
        int sell = min(-want, held);
        held -= sell;
        float paid = 0.0f;
        for (int open = sell; open > 0; ) {
            while (left == 0) {
                left = max(q[head], 0);
                ++head;
            }
            int part = min(open, left);
            paid = fmaf((float)part, (float)p[head - 1], paid);
            left -= part;
            open -= part;
        }
        cost -= (long long)paid;
        g[t] = (int)fmaf((float)sell, (float)p[t], -paid);
    }
    units[a] = held;
    book[a] = cost;
}

extern "C" void inventory(const int* qty, const int* price, int* gain, int* units, long long* book, int accounts, int trades)
{
    match_lots<<<(accounts + 127) / 128, 128>>>(qty, price, gain, units, book, accounts, trades);
}
