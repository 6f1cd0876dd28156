// First-in-first-out lots of many accounts. Trade t of account a is qty[a * trades + t] at price[...] (cents): positive
// quantities buy a lot, negative ones sell from the oldest lots. Nobody sells short: what a sale asks for beyond
// the holding is dropped. gain: the realised gain of each sale (0 elsewhere); units and book: what is left, and its cost.
#include <cuda_runtime.h>
#include <cstddef>

constexpr int TILE = 32;

// to[c][r] = from[r][c]
__global__ void turn(const int* from, int* to, int rows, int cols)
{
    __shared__ int tile[TILE][TILE + 1];
    int tiles = (cols + TILE - 1) / TILE;
    int c0 = (blockIdx.x % tiles) * TILE, r0 = (blockIdx.x / tiles) * TILE;
    for (int y = threadIdx.y; y < TILE; y += blockDim.y)
        if (r0 + y < rows && c0 + (int)threadIdx.x < cols) tile[y][threadIdx.x] = from[(size_t)(r0 + y) * cols + c0 + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += blockDim.y)
        if (c0 + y < cols && r0 + (int)threadIdx.x < rows) to[(size_t)(c0 + y) * rows + r0 + threadIdx.x] = tile[threadIdx.x][y];
}

__global__ void match_lots(const int* qty, const int* price, int* gain, int* units, long long* book, int accounts, int trades)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= accounts) return;
    const int* q = qty + a;
    const int* p = price + a;
    int* g = gain + a;

    int head = 0, left = 0;      // the oldest open lot, and what is left of it once it has been opened
    int held = 0;
    long long cost = 0;
    for (int t = 0; t < trades; ++t) {
        int want = q[(size_t)t * accounts];
        if (want >= 0) {
            held += want;
            cost += (long long)want * p[(size_t)t * accounts];
            g[(size_t)t * accounts] = 0;
            continue;
        }
        int sell = min(-want, held);
        held -= sell;
        long long paid = 0;
        for (int open = sell; open > 0; ) {
            while (left == 0) {
                left = max(q[(size_t)head * accounts], 0);
                ++head;
            }
            int part = min(open, left);
            paid += (long long)part * p[(size_t)(head - 1) * accounts];
            left -= part;
            open -= part;
        }
        cost -= paid;
        g[(size_t)t * accounts] = (int)((long long)sell * p[(size_t)t * accounts] - paid);
    }
    units[a] = held;
    book[a] = cost;
}

extern "C" void inventory(const int* qty, const int* price, int* gain, int* units, long long* book, int accounts, int trades)
{
    // the walk goes over the trades of 32 accounts at a time: turned around, its loads are coalesced
    static int* room = nullptr;
    static size_t kept = 0;
    size_t cells = (size_t)accounts * trades;
    if ((size_t)accounts > kept) {
        cudaFree(room);
        cudaMalloc(&room, cells * 3 * sizeof(int));
        kept = accounts;
    }
    int *q = room, *p = q + cells, *g = p + cells;
    dim3 threads(TILE, 8);
    unsigned tiles = (unsigned)((accounts + TILE - 1) / TILE) * (unsigned)((trades + TILE - 1) / TILE);
    turn<<<tiles, threads>>>(qty, q, accounts, trades);
    turn<<<tiles, threads>>>(price, p, accounts, trades);
    match_lots<<<(accounts + 127) / 128, 128>>>(q, p, g, units, book, accounts, trades);
    turn<<<tiles, threads>>>(g, gain, trades, accounts);
}
