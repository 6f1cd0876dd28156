// First-in-first-out lots of many accounts. Trade t of account a is qty[a * trades + t] at price[...] (cents): positive
// quantities buy a lot, negative ones sell from the oldest lots. Nobody sells short: what a sale asks for beyond
// the holding is dropped. gain: the realised gain of each sale (0 elsewhere); units and book: what is left, and its cost.
#include <cuda_runtime.h>
#include <cstddef>

constexpr int LANES = 128;

// x -> max(floor, x + add), the effect of a run of trades on the holding
struct Walk { int add, floor; };
__device__ __forceinline__ Walk then(Walk f, Walk g) { return {f.add + g.add, max(g.floor, f.floor + g.add)}; }

// the scan of a block of trades: walk, bought units and spent money
struct Step { Walk walk; int bought; long long spent; };

__device__ __forceinline__ Step join(Step f, Step g) { return {then(f.walk, g.walk), f.bought + g.bought, f.spent + g.spent}; }

__device__ __forceinline__ Step from_below(Step s, int d)
{
    Step o;
    o.walk.add = __shfl_up_sync(0xffffffffu, s.walk.add, d);
    o.walk.floor = __shfl_up_sync(0xffffffffu, s.walk.floor, d);
    o.bought = __shfl_up_sync(0xffffffffu, s.bought, d);
    o.spent = __shfl_up_sync(0xffffffffu, s.spent, d);
    return o;
}

// A block owns an account. Pass 1 leaves, for every trade, the units bought and the money spent up to it in a table;
// pass 2 finds a sale's place in it by bisection.
__global__ void match_lots(const int* qty, const int* price, int* gain, int* units, long long* book,
                           int* bought, long long* spent, int accounts, int trades)
{
    __shared__ Step warps[LANES / 32];
    __shared__ Step carry;
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    for (int a = blockIdx.x; a < accounts; a += gridDim.x) {
        const int* q = qty + (size_t)a * trades;
        const int* p = price + (size_t)a * trades;
        int* g = gain + (size_t)a * trades;
        int* have = bought + (size_t)blockIdx.x * trades;
        long long* paid = spent + (size_t)blockIdx.x * trades;

        __syncthreads();
        if (threadIdx.x == 0) carry = {{0, 0}, 0, 0};
        __syncthreads();
        for (int from = 0; from < trades; from += LANES) {
            int t = from + threadIdx.x;
            Step s = {{0, 0}, 0, 0};
            int want = 0;
            if (t < trades) {
                want = q[t];
                s.walk.add = want;
                s.bought = max(want, 0);
                s.spent = (long long)max(want, 0) * (long long)p[t];
            }
            for (int d = 1; d < 32; d <<= 1) {
                Step o = from_below(s, d);
                if (lane >= d) s = join(o, s);
            }
            if (lane == 31) warps[w] = s;
            __syncthreads();
            Step before = carry;
            for (int v = 0; v < w; ++v) before = join(before, warps[v]);
            s = join(before, s);
            if (t < trades) {
                have[t] = s.bought;
                paid[t] = s.spent;
                // the holding after the trade, for now in place of the gain
                g[t] = max(s.walk.floor, s.walk.add);
            }
            __syncthreads();
            if (threadIdx.x == LANES - 1) carry = s;
            __syncthreads();
        }

        // units sold up to a trade: bought minus held. Cost of the first u units: by bisection in the table
        auto cost = [&](int u) -> long long {
            int lo = 0, hi = trades - 1;              // the first trade with have >= u
            while (lo < hi) {
                int mid = (lo + hi) >> 1;
                if (have[mid] >= u) hi = mid; else lo = mid + 1;
            }
            return paid[lo] - (long long)(have[lo] - u) * (long long)p[lo];
        };
        for (int top = (trades - 1) / LANES * LANES; top >= 0; top -= LANES) {   // from the end: a gain needs the holding before it
            int t = top + threadIdx.x, y = 0;
            if (t < trades) {
                int now = g[t], was = t ? g[t - 1] : 0;
                if (t == trades - 1) {
                    units[a] = now;
                    book[a] = (long long)(paid[t] - (now == have[t] ? 0 : cost(have[t] - now)));
                }
                if (q[t] < 0 && was > now) {
                    int s1 = have[t] - now, s0 = s1 - (was - now);
                    long long c1 = cost(s1), c0 = s0 ? cost(s0) : 0;
                    y = (int)((long long)(was - now) * (long long)p[t] - (c1 - c0));
                }
            }
            __syncthreads();
            if (t < trades) g[t] = y;
            __syncthreads();
        }
    }
}

extern "C" void inventory(const int* qty, const int* price, int* gain, int* units, long long* book, int accounts, int trades)
{
    static char* room = nullptr;
    static size_t kept = 0;
    int blocks = accounts < 2112 ? accounts : 2112;
    size_t cells = (size_t)blocks * trades;
    if (cells > kept) {
        cudaFree(room);
        cudaMalloc(&room, cells * (sizeof(int) + sizeof(long long)));
        kept = cells;
    }
    long long* spent = (long long*)room;
    match_lots<<<blocks, LANES>>>(qty, price, gain, units, book, (int*)(spent + cells), spent, accounts, trades);
}
