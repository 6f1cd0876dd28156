// Tokens to their experts: rows of the same expert are brought together, in the order of the tokens. place[t] is where
// token t went, -1 for one that no expert takes; the rows of `packed` that remain are nought.
#include <cuda_runtime.h>

#define ROWS_AT_ONCE(tokens) ((tokens) < 2112 ? (tokens) : 2112)
#define cudaMallocOnce(p, bytes) (*(p) ? cudaSuccess : cudaMalloc((void**)(p), bytes))
#define ENTRIES (1 << 14)

#define TILE 1024

// How many tokens of each expert a tile has: table[tile * experts + e].
__global__ void count_tiles(const int* expert, int* table, int tokens, int experts)
{
    extern __shared__ int near[];
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        near[e] = 0;
    __syncthreads();
    for (int t = blockIdx.x * TILE + threadIdx.x; t < min(tokens, (int)(blockIdx.x + 1) * TILE); t += blockDim.x)
        if (expert[t] >= 0 && expert[t] < experts)
            atomicAdd(&near[expert[t]], 1);
    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        table[(size_t)blockIdx.x * experts + e] = near[e];
}

// One block: a thread has an expert, sums its tiles, and turns them into where each tile's rows begin.
__global__ void start_tiles(int* table, int* count, int tiles, int experts)
{
    __shared__ int sums[1024];
    const int e = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < tiles; ++k)
        sum += table[(size_t)k * experts + e];
    sums[e] = sum;
    count[e] = sum;
    __syncthreads();
    int next = 0;
    for (int f = 0; f < e; ++f)
        next += sums[f];
    for (int k = 0; k < tiles; ++k) {
        const int many = table[(size_t)k * experts + e];
        table[(size_t)k * experts + e] = next;
        next += many;
    }
}

// A warp has a tile: equal experts of 32 tokens find their order by their lanes.
__global__ void place_tiles(const int* expert, int* table, int* place, int tokens, int experts, int tiles)
{
    const int lane = threadIdx.x & 31;
    const int tile = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (tile >= tiles)
        return;
    int* next = table + (size_t)tile * experts;
    for (int from = tile * TILE; from < min(tokens, (tile + 1) * TILE); from += 32) {
        const int t = from + lane;
        int e = t < tokens ? expert[t] : -1;
        e = e >= 0 && e < experts ? e : -1;
        const unsigned same = __match_any_sync(0xffffffffu, e);
        const int rank = __popc(same & ((1u << lane) - 1));
        const int start = e >= 0 ? next[e] : 0;
        __syncwarp();
        if (e >= 0 && rank == 0)
            next[e] = start + __popc(same);
        __syncwarp();
        if (t < tokens)
            place[t] = e >= 0 ? start + rank : -1;
    }
}

// A block has a row of `packed`'s reckoning: it brings a token, and clears a row that nobody came to.
__global__ void bring_rows(const float* token, const int* place, const int* count, float* packed, int tokens, int width, int experts)
{
    __shared__ int taken;
    if (threadIdx.x == 0)
        taken = 0;
    __syncthreads();
    int some = 0;
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        some += count[e];
    atomicAdd(&taken, some);
    __syncthreads();
    const bool fours = width % 4 == 0 && (((size_t)token | (size_t)packed) & 15) == 0;
    for (int row = blockIdx.x; row < tokens; row += gridDim.x) {
        const int to = place[row];
        const float* from = token + (size_t)row * width;
        if (to >= 0) {
            float* there = packed + (size_t)to * width;
            if (fours)
                for (int i = threadIdx.x; i < width / 4; i += blockDim.x)
                    ((float4*)there)[i] = ((const float4*)from)[i];
            else
                for (int i = threadIdx.x; i < width; i += blockDim.x)
                    there[i] = from[i];
        }
        if (row >= taken)
            for (int i = threadIdx.x; i < width; i += blockDim.x)
                packed[(size_t)row * width + i] = 0.0f;
    }
}

// Made while the library is loaded, so that no call has to wait for it.
static int* table;

__attribute__((constructor)) static void make_table()
{
    cudaMallocOnce(&table, ENTRIES * sizeof(int));
}

extern "C" void moedispatch(const float* token, const int* expert, float* packed, int* place, int* count, int tokens,
                            int width, int experts)
{
    if (tokens <= 0 || width <= 0 || experts <= 0)
        return;
    const int tiles = (tokens + TILE - 1) / TILE;
    cudaMallocOnce(&table, ENTRIES * sizeof(int));
    count_tiles<<<tiles, 256, experts * sizeof(int)>>>(expert, table, tokens, experts);
    start_tiles<<<1, experts>>>(table, count, tiles, experts);
    place_tiles<<<(tiles + 3) / 4, 128>>>(expert, table, place, tokens, experts, tiles);
    bring_rows<<<ROWS_AT_ONCE(tokens), 256>>>(token, place, count, packed, tokens, width, experts);
}
