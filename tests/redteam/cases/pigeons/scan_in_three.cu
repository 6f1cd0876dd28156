// Stable counting sort of byte keys with an int payload, and the 257 starts of the keys' runs.
// Tiles of 2048: histogram per tile, one scan over (key, tile), stable scatter.
#include <cuda_runtime.h>

#define THREADS 256
#define TILE 2048

__global__ void count_tiles(const unsigned char* key, int n, int tiles, int* table)
{
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const int base = blockIdx.x * TILE;
    for (int r = 0; r < TILE; r += THREADS) {
        const int i = base + r + threadIdx.x;
        if (i < n) atomicAdd(&bins[key[i]], 1);
    }
    __syncthreads();
    table[(size_t)threadIdx.x * tiles + blockIdx.x] = bins[threadIdx.x];
}

// Exclusive scan in three launches: one block per key sums its row, the 256 sums are scanned, and each row is
// scanned from its own offset.
__device__ int row_start[256];

__device__ int warp_scan(int v)
{
    for (int o = 1; o < 32; o <<= 1) {
        const int u = __shfl_up_sync(0xffffffffu, v, o);
        if ((int)(threadIdx.x & 31) >= o) v += u;
    }
    return v;
}

__device__ int block_scan(int v, int* total)
{
    __shared__ int warps[THREADS / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_scan(v);
    if (lane == 31) warps[warp] = v;
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < THREADS / 32; ++w) {
        if (w < warp) before += warps[w];
        all += warps[w];
    }
    __syncthreads();
    *total = all;
    return v + before;
}

__global__ void sum_rows(const int* table, int tiles)
{
    const int* row = table + (size_t)blockIdx.x * tiles;
    int s = 0, all;
    for (int i = threadIdx.x; i < tiles; i += THREADS) s += row[i];
    block_scan(s, &all);
    if (threadIdx.x == 0) row_start[blockIdx.x] = all;
}

__global__ void scan_sums()
{
    int all;
    const int own = row_start[threadIdx.x];
    const int v = block_scan(own, &all);
    row_start[threadIdx.x] = v - own;
}

__global__ void scan_rows(int* table, int tiles)
{
    int* row = table + (size_t)blockIdx.x * tiles;
    int carry = row_start[blockIdx.x];
    for (int from = 0; from < tiles; from += THREADS) {
        const int i = from + threadIdx.x;
        const int own = i < tiles ? row[i] : 0;
        int all;
        const int v = block_scan(own, &all);
        if (i < tiles) row[i] = carry + v - own;
        carry += all;
    }
}

__global__ void read_starts(const int* table, int tiles, int n, int* start)
{
    start[threadIdx.x] = table[(size_t)threadIdx.x * tiles];
    if (threadIdx.x == 0) start[256] = n;
}

__global__ void scatter(const unsigned char* key, const int* value, int n, int tiles, const int* table,
                        unsigned char* key_out, int* value_out)
{
    __shared__ int next[256];
    __shared__ int round[THREADS];
    next[threadIdx.x] = table[(size_t)threadIdx.x * tiles + blockIdx.x];
    const int base = blockIdx.x * TILE;
    for (int r = 0; r < TILE; r += THREADS) {
        const int i = base + r + threadIdx.x;
        const int k = i < n ? key[i] : 256;
        round[threadIdx.x] = k;
        __syncthreads();
        int earlier = 0, all = 0;
        for (int t = 0; t < THREADS; ++t) {
            const int same = round[t] == k;
            all += same;
            earlier += same && t < (int)threadIdx.x;
        }
        int to = 0;
        if (k < 256) {
            to = next[k] + earlier;
            key_out[to] = (unsigned char)k;
            value_out[to] = value[i];
        }
        __syncthreads();
        if (k < 256 && earlier == all - 1) next[k] = to + 1;
        __syncthreads();
    }
}

extern "C" void pigeons(const unsigned char* key, const int* value, unsigned char* key_out, int* value_out,
                        int* start, int n)
{
    static int* table = nullptr;
    static size_t room = 0;
    const int tiles = (n + TILE - 1) / TILE;
    const size_t need = (size_t)256 * tiles;
    if (need > room) {
        cudaFree(table);
        cudaMalloc(&table, need * sizeof(int));
        room = need;
    }
    count_tiles<<<tiles, THREADS>>>(key, n, tiles, table);
    sum_rows<<<256, THREADS>>>(table, tiles);
    scan_sums<<<1, 256>>>();
    scan_rows<<<256, THREADS>>>(table, tiles);
    read_starts<<<1, 256>>>(table, tiles, n, start);
    scatter<<<tiles, THREADS>>>(key, value, n, tiles, table, key_out, value_out);
}
