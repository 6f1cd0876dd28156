// Benjamini-Hochberg adjusted p-values, row by row. A NaN is a test that was not made: it stays NaN and
// does not count among the tests of its row. Values outside [0, 1] are taken as the nearer bound.
#include <cuda_runtime.h>
#include <math_constants.h>

#define TILE 256

__device__ __forceinline__ float bounded(float p)
{
    return p < 0.0f ? 0.0f : (p > 1.0f ? 1.0f : p);
}

__global__ void fill_kernel(float* __restrict__ by_rank, size_t count)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) by_rank[k] = CUDART_INF_F;
}

// rank of a value: how many of its row are not above it
__global__ void rank_kernel(const float* __restrict__ pval, int* __restrict__ rank, float* __restrict__ by_rank,
                            int* __restrict__ made, int m)
{
    __shared__ float tile[TILE];
    size_t row = (size_t)blockIdx.x * m;
    int i = blockIdx.y * TILE + threadIdx.x;
    float mine = i < m ? bounded(pval[row + i]) : CUDART_NAN_F;
    int below = 0, tests = 0;
    for (int first = 0; first < m; first += TILE) {
        int k = first + threadIdx.x;
        tile[threadIdx.x] = k < m ? bounded(pval[row + k]) : CUDART_NAN_F;
        __syncthreads();
        int last = min(TILE, m - first);
        for (int j = 0; j < last; ++j) {
            float other = tile[j];
            below += other <= mine;
            tests += other == other;
        }
        __syncthreads();
    }
    if (i < m) {
        rank[row + i] = below;
        if (mine == mine) by_rank[row + below - 1] = mine * (float)tests / (float)below;
    }
    if (blockIdx.y == 0 && threadIdx.x == 0) made[blockIdx.x] = tests;
}

// running minimum from the highest rank down
__global__ void suffix_kernel(float* __restrict__ by_rank, int m)
{
    __shared__ float line[TILE];
    float* row = by_rank + (size_t)blockIdx.x * m;
    int t = threadIdx.x;
    float carry = CUDART_INF_F;
    for (int end = m; end > 0; end -= TILE) {
        int k = end - 1 - t;
        line[t] = k >= 0 ? row[k] : CUDART_INF_F;
        __syncthreads();
        for (int step = 1; step < TILE; step <<= 1) {
            float got = t >= step ? line[t - step] : CUDART_INF_F;
            __syncthreads();
            line[t] = fminf(line[t], got);
            __syncthreads();
        }
        if (k >= 0) row[k] = fminf(line[t], carry);
        carry = fminf(carry, line[TILE - 1]);
        __syncthreads();
    }
}

__global__ void finish_kernel(const float* __restrict__ pval, const int* __restrict__ rank,
                              const float* __restrict__ by_rank, float* __restrict__ q, int m)
{
    size_t row = (size_t)blockIdx.x * m;
    int i = blockIdx.y * TILE + threadIdx.x;
    if (i >= m) return;
    float p = pval[row + i];
    q[row + i] = p == p ? fminf(1.0f, by_rank[row + rank[row + i] - 1]) : CUDART_NAN_F;
}

static float* room = nullptr;
static size_t room_size = 0;

extern "C" void multitest(const float* pval, float* q, int* made, int rows, int m)
{
    size_t count = (size_t)rows * m;
    if (count > room_size) {
        if (room) cudaFree(room);
        cudaMalloc(&room, count * 2 * sizeof(float));
        room_size = count;
    }
    float* by_rank = room;
    int* rank = (int*)(room + count);
    dim3 grid(rows, (m + TILE - 1) / TILE);
    fill_kernel<<<(unsigned)((count + 255) / 256), 256>>>(by_rank, count);
    rank_kernel<<<grid, TILE>>>(pval, rank, by_rank, made, m);
    suffix_kernel<<<rows, TILE>>>(by_rank, m);
    finish_kernel<<<grid, TILE>>>(pval, rank, by_rank, q, m);
}
