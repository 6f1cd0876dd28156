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

// Lanes with the same key (0..255, or 256 beyond the end), from one ballot per bit.
__device__ __forceinline__ unsigned int same_key(int k)
{
    unsigned int peers = 0xffffffffu;
    #pragma unroll
    for (int bit = 0; bit < 9; ++bit) {
        const bool set = k >> bit & 1;
        const unsigned int votes = __ballot_sync(0xffffffffu, set);
        peers &= set ? votes : ~votes;
    }
    return peers;
}

// Each warp owns 256 neighbouring items of the tile. A first sweep counts its keys, the counts of the warps before
// it give its first places, and the second sweep ranks by ballots. Order inside a key stays as it came.
__global__ void scatter(const unsigned char* key, const int* value, int n, int tiles, const int* table,
                        unsigned char* key_out, int* value_out)
{
    __shared__ unsigned short counts[THREADS / 32][256];
    __shared__ int place[THREADS / 32][256];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int own = blockIdx.x * TILE + warp * 256;
    for (int k = lane; k < 256; k += 32) counts[warp][k] = 0;
    __syncwarp();
    for (int r = 0; r < 256; r += 32) {
        const int i = own + r + lane;
        const int k = i < n ? key[i] : 256;
        const unsigned int peers = same_key(k);
        if (k < 256 && lane == __ffs(peers) - 1) counts[warp][k] += (unsigned short)__popc(peers);
        __syncwarp();
    }
    __syncthreads();
    int at = table[(size_t)threadIdx.x * tiles + blockIdx.x];
    for (int w = 0; w < THREADS / 32; ++w) {
        place[w][threadIdx.x] = at;
        at += counts[w][threadIdx.x];
    }
    __syncthreads();
    for (int r = 0; r < 256; r += 32) {
        const int i = own + r + lane;
        const int k = i < n ? key[i] : 256;
        const unsigned int peers = same_key(k);
        const int rank = __popc(peers & ((1u << lane) - 1u));
        if (k < 256) {
            const int to = place[warp][k] + rank;
            key_out[to] = (unsigned char)k;
            value_out[to] = value[i];
        }
        __syncwarp();
        if (k < 256 && rank == 0) place[warp][k] += __popc(peers);
        __syncwarp();
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
