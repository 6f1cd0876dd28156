// Lays out text: where each glyph begins in its line, from the advance widths of the glyphs and how far each pair of
// neighbours is drawn together. Code 0 ends a line and sits where the line's last glyph ends. Also: the widest line.
#include <cuda_runtime.h>
#include <stdint.h>

constexpr int GLYPHS = 96;
constexpr int THREADS = 256;
constexpr int ITEMS = 4;
constexpr int TILE = THREADS * ITEMS;

struct Pen {
    int starts;                                 // whether a line begins within
    int sum;                                    // what was advanced since then
};

__device__ inline Pen join(Pen a, Pen b)
{
    Pen r;
    r.starts = a.starts | b.starts;
    r.sum = b.starts ? b.sum : a.sum + b.sum;
    return r;
}

__device__ inline Pen move_to(const uint8_t* text, const int* advance, const int* tighten, long long i)
{
    Pen p;
    const int before = i > 0 ? text[i - 1] : 0;
    p.starts = before == 0;
    p.sum = 0;
    if (before) {
        const int here = text[i];
        p.sum = advance[before];
        if (here)
            p.sum -= tighten[before * GLYPHS + here];
    }
    return p;
}

// Exclusive scan over the block's threads; `all` is the total of the block.
__device__ inline Pen block_scan(Pen mine, Pen* shared, Pen& all)
{
    const int t = threadIdx.x;
    shared[t] = mine;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d <<= 1) {
        Pen p = shared[t];
        if (t >= d)
            p = join(shared[t - d], p);
        __syncthreads();
        shared[t] = p;
        __syncthreads();
    }
    Pen r = {0, 0};
    if (t > 0)
        r = shared[t - 1];
    all = shared[blockDim.x - 1];
    return r;
}

__global__ void tile_totals(const uint8_t* text, const int* advance, const int* tighten, Pen* totals, int n)
{
    __shared__ Pen shared[THREADS];
    const long long begin = (long long)blockIdx.x * TILE + threadIdx.x * ITEMS;
    Pen mine = {0, 0};
    for (int k = 0; k < ITEMS; ++k)
        if (begin + k < n)
            mine = join(mine, move_to(text, advance, tighten, begin + k));
    Pen all;
    block_scan(mine, shared, all);
    if (threadIdx.x == 0)
        totals[blockIdx.x] = all;
}

// One block: the totals of the tiles become what comes before each of them.
__global__ void tile_carries(Pen* totals, int tiles)
{
    __shared__ Pen shared[THREADS];
    Pen carry = {0, 0};
    for (int begin = 0; begin < tiles; begin += THREADS) {
        const int i = begin + threadIdx.x;
        Pen mine = {0, 0};
        if (i < tiles)
            mine = totals[i];
        Pen all;
        const Pen before = block_scan(mine, shared, all);
        if (i < tiles)
            totals[i] = join(carry, before);
        carry = join(carry, all);
        __syncthreads();
    }
}

__global__ void place_glyphs(const uint8_t* text, const int* advance, const int* tighten, const Pen* carries, int* x,
                             int* widest, int n)
{
    __shared__ Pen shared[THREADS];
    __shared__ int width;
    const long long begin = (long long)blockIdx.x * TILE + threadIdx.x * ITEMS;
    if (threadIdx.x == 0) {
        width = 0;
        if (blockIdx.x == 0)
            atomicExch(widest, 0);
    }
    Pen moves[ITEMS];
    Pen mine = {0, 0};
    for (int k = 0; k < ITEMS; ++k) {
        moves[k] = Pen{0, 0};
        if (begin + k < n)
            moves[k] = move_to(text, advance, tighten, begin + k);
        mine = join(mine, moves[k]);
    }
    Pen all;
    Pen p = join(carries[blockIdx.x], block_scan(mine, shared, all));
    int most = 0;
    for (int k = 0; k < ITEMS; ++k) {
        const long long i = begin + k;
        if (i < n) {
            p = join(p, moves[k]);
            x[i] = p.sum;
            int end = p.sum;
            if (text[i])
                end += advance[text[i]];
            if (text[i] == 0 || i == n - 1)
                most = max(most, end);
        }
    }
    atomicMax(&width, most);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(widest, width);
}

void kerning(const uint8_t* text, const int* advance, const int* tighten, int* x, int* widest, int n)
{
    const int tiles = (n + TILE - 1) / TILE;
    Pen* carries;
    cudaMallocAsync(&carries, tiles * sizeof(Pen), 0);
    tile_totals<<<tiles, THREADS>>>(text, advance, tighten, carries, n);
    tile_carries<<<1, THREADS>>>(carries, tiles);
    place_glyphs<<<tiles, THREADS>>>(text, advance, tighten, carries, x, widest, n);
    cudaFreeAsync(carries, 0);
}
