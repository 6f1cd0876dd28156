#include <cuda_runtime.h>

__device__ int apart(const int* x, const int* y, int i, int j) { return abs(x[i] - x[j]) + abs(y[i] - y[j]); }

// What is won when the way from the place behind i to j is gone the other way round.
__device__ int won(const int* x, const int* y, int i, int j, int n) {
    int a = (i + 1) % n, b = (j + 1) % n;
    return apart(x, y, i, a) + apart(x, y, j, b) - apart(x, y, i, j) - apart(x, y, a, b);
}

struct Move {
    int won, i, j;
};

__device__ unsigned arrived;

__device__ bool before(Move a, Move b) {
    return a.won > b.won;
}

// The best of a block's moves, known to its first thread.
__device__ Move best_of(Move m) {
    __shared__ Move part[8];
    for (int d = 16; d; d /= 2) {
        Move o;
        o.won = __shfl_down_sync(0xffffffffu, m.won, d);
        o.i = __shfl_down_sync(0xffffffffu, m.i, d);
        o.j = __shfl_down_sync(0xffffffffu, m.j, d);
        if (before(o, m)) m = o;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 1; k < 8; ++k)
            if (before(part[k], m)) m = part[k];
    return m;
}

// Blocks keep the best of their places; the one that comes last chooses.
__global__ void search(const int* x, const int* y, Move* kept, int* move, int* gain, int n) {
    __shared__ bool last;
    int t = threadIdx.x;
    Move m = {0, 0, 0};
    for (int i = blockIdx.x; i < n; i += gridDim.x)
        for (int j = i + 1 + t; j < n; j += 256) {
            Move o = {won(x, y, i, j, n), i, j};
            if (o.won > 0 && before(o, m)) m = o;
        }
    m = best_of(m);
    if (t == 0) {
        kept[blockIdx.x] = m;
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    m = {0, 0, 0};
    for (int k = t; k < gridDim.x; k += 256) {
        Move o = {__ldcg(&kept[k].won), __ldcg(&kept[k].i), __ldcg(&kept[k].j)};
        if (before(o, m) && o.won > 0) m = o;
    }
    m = best_of(m);
    if (t) return;
    move[0] = m.i;
    move[1] = m.j;
    *gain = m.won;
}

// The exchange of two edges of a round trip that wins most, the first of equals; none (0, 0) where nothing is won.
extern "C" void twoopt(const int* x, const int* y, int* move, int* gain, int n) {
    Move* kept;
    int blocks = min(n, 792);
    cudaMallocAsync((void**)&kept, blocks * sizeof(Move), 0);
    search<<<blocks, 256>>>(x, y, kept, move, gain, n);
    cudaFreeAsync(kept, 0);
}
