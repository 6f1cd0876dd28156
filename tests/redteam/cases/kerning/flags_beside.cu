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

// State of a tile: 0 nothing yet, 1 its own total, 2 all that counts up to its end; the sum stands beside it.
__device__ inline void publish(int* state, int tile, Pen p, int ready)
{
    state[2 * tile + 1] = p.sum;
    *(volatile int*)&state[2 * tile] = p.starts << 2 | ready;
}

__device__ inline int look(int* state, int tile, Pen& p)
{
    const int word = *(volatile int*)&state[2 * tile];
    p.sum = state[2 * tile + 1];
    p.starts = word >> 2 & 1;
    return word & 3;
}

__global__ void place_glyphs(const uint8_t* text, const int* advance, const int* tighten, int* state, int* x,
                             int* widest, int n, unsigned* next)
{
    __shared__ Pen shared[THREADS];
    __shared__ int width;
    __shared__ int tile;
    __shared__ Pen carry;
    if (threadIdx.x == 0)
        tile = atomicAdd(next, 1u);
    __syncthreads();
    const long long begin = (long long)tile * TILE + threadIdx.x * ITEMS;
    if (threadIdx.x == 0)
        width = 0;
    Pen moves[ITEMS];
    Pen mine = {0, 0};
    for (int k = 0; k < ITEMS; ++k) {
        moves[k] = Pen{0, 0};
        if (begin + k < n)
            moves[k] = move_to(text, advance, tighten, begin + k);
        mine = join(mine, moves[k]);
    }
    Pen all;
    Pen p = block_scan(mine, shared, all);
    if (threadIdx.x == 0) {
        publish(state, tile, all, tile == 0 || all.starts ? 2 : 1);
        Pen c = {0, 0};
        for (int s = tile - 1; s >= 0; --s) {
            Pen q;
            int ready;
            do
                ready = look(state, s, q);
            while (!ready);
            c = join(q, c);
            if (ready == 2)
                break;
        }
        if (tile > 0 && !all.starts)
            publish(state, tile, join(c, all), 2);
        carry = c;
    }
    __syncthreads();
    p = join(carry, p);
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
    int* state;                                  // two for each tile, and the number of the next tile
    const size_t bytes = (2 * tiles) * sizeof(int) + sizeof(unsigned);
    cudaMallocAsync(&state, bytes, 0);
    cudaMemsetAsync(state, 0, bytes, 0);
    cudaMemsetAsync(widest, 0, sizeof(int), 0);
    place_glyphs<<<tiles, THREADS>>>(text, advance, tighten, state, x, widest, n, (unsigned*)(state + 2 * tiles));
    cudaFreeAsync(state, 0);
}
