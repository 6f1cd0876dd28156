// Positions of the upticks of a series: all i > 0 with price[i] > price[i-1], in rising order; the rest of `at` is
// filled with -1, and count[0] is their number.
#include <cuda_runtime.h>

constexpr int TILE = 256;

__device__ __forceinline__ bool uptick(const float* price, int i, int n)
{
    return i > 0 && i < n && price[i] > price[i - 1];
}

// Number of set flags before this thread in its block, and in the whole block.
__device__ __forceinline__ int rankOf(bool flag, int& all)
{
    __shared__ int warps[TILE / 32];
    unsigned votes = __ballot_sync(~0u, flag);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0)
        warps[warp] = __popc(votes);
    __syncthreads();
    int before = 0;
    all = 0;
    for (int w = 0; w < TILE / 32; w++) {
        if (w < warp)
            before += warps[w];
        all += warps[w];
    }
    return before + __popc(votes & ((1u << lane) - 1));
}

__global__ void tally(const float* price, int* tiles, int n)
{
    int all;
    rankOf(uptick(price, blockIdx.x * TILE + threadIdx.x, n), all);
    if (threadIdx.x == 0)
        tiles[blockIdx.x] = all;
}

// Tile counts become the number of upticks before each tile.
__global__ void offsets(int* tiles, int count, int* total)
{
    __shared__ int warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int carry = 0;
    for (int from = 0; from < count; from += 1024) {
        int t = from + threadIdx.x;
        int mine = t < count ? tiles[t] : 0;
        int sum = mine;
        for (int step = 1; step < 32; step *= 2) {
            int other = __shfl_up_sync(~0u, sum, step);
            if (lane >= step)
                sum += other;
        }
        if (lane == 31)
            warps[warp] = sum;
        __syncthreads();
        int before = carry;
        for (int w = 0; w < 32; w++) {
            if (w < warp)
                before += warps[w];
            carry += warps[w];
        }
        if (t < count)
            tiles[t] = before + sum - mine;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *total = carry;
}

__global__ void place(const float* price, const int* tiles, const int* total, int* at, int n)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    int all;
    bool up = uptick(price, i, n);
    int rank = rankOf(up, all);
    if (up)
        at[tiles[blockIdx.x] + rank] = i;
    if (i < n && i >= *total)
        at[i] = -1;
}

extern "C" void upticks(const float* price, int* at, int* count, int n)
{
    static int* tiles = nullptr;
    static int room = 512;
    int blocks = (n + TILE - 1) / TILE;
    if (!tiles || blocks > room) {
        while (room < blocks)
            room *= 2;
        cudaFree(tiles);
        cudaMalloc(&tiles, room * sizeof(int));
    }
    tally<<<blocks, TILE>>>(price, tiles, n);
    offsets<<<1, 1024>>>(tiles, blocks, count);
    place<<<blocks, TILE>>>(price, tiles, count, at, n);
}
