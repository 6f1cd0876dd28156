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

// Exclusive scan of table[0 .. length), one block of 1024.
__global__ void scan_table(int* table, int length)
{
    __shared__ int warps[32];
    __shared__ int carry;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0) carry = 0;
    __syncthreads();
    for (int from = 0; from < length; from += 1024) {
        const int i = from + threadIdx.x;
        const int own = i < length ? table[i] : 0;
        int v = own;
        for (int o = 1; o < 32; o <<= 1) {
            const int u = __shfl_up_sync(0xffffffffu, v, o);
            if (lane >= o) v += u;
        }
        if (lane == 31) warps[warp] = v;
        __syncthreads();
        if (warp == 0) {
            int w = warps[lane];
            for (int o = 1; o < 32; o <<= 1) {
                const int u = __shfl_up_sync(0xffffffffu, w, o);
                if (lane >= o) w += u;
            }
            warps[lane] = w;
        }
        __syncthreads();
        const int before = carry + (warp ? warps[warp - 1] : 0);
        if (i < length) table[i] = before + v - own;
        __syncthreads();
        if (threadIdx.x == 0) carry += warps[31];
        __syncthreads();
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
    scan_table<<<1, 1024>>>(table, (int)need);
    read_starts<<<1, 256>>>(table, tiles, n, start);
    scatter<<<tiles, THREADS>>>(key, value, n, tiles, table, key_out, value_out);
}
