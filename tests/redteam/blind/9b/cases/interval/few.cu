#include <cuda_runtime.h>

typedef unsigned long long u64;

// Gershgorin interval of a sparse square matrix in coordinate form (any order, duplicates add up in the centre;
// in the radius each off-diagonal entry counts by itself; entries outside of the matrix are ignored).
__global__ void clear(long long* centre, long long* radius, long long* bounds, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        centre[i] = 0;
        radius[i] = 0;
    }
    if (i == 0) {
        bounds[0] = 0x7fffffffffffffffLL;          // lower end
        bounds[1] = -0x7fffffffffffffffLL - 1;     // upper end
        bounds[2] = 0;                             // strictly dominant rows
    }
}

__global__ void gather(const int* row, const int* col, const int* val, long long* centre, long long* radius,
                       int nnz, int rows)
{
    __shared__ u64 sums[2 * 1024];
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    bool small = rows <= 1024;                     // all rows fit into the block's own sums
    if (small) {
        for (int i = threadIdx.x; i < 2 * rows; i += blockDim.x) sums[i] = 0;
        __syncthreads();
    }
    if (k < nnz) {
        int r = row[k], c = col[k];
        if ((unsigned)r < (unsigned)rows && (unsigned)c < (unsigned)rows) {
            long long v = val[k];
            u64 add = (u64)(r == c || v >= 0 ? v : -v);
            u64* to = small ? &sums[2 * r + (r != c)] : (u64*)(r == c ? centre : radius) + r;
            atomicAdd(to, add);
        }
    }
    if (small) {
        __syncthreads();
        for (int i = threadIdx.x; i < 2 * rows; i += blockDim.x)
            if (sums[i]) atomicAdd((u64*)(i % 2 ? radius : centre) + i / 2, sums[i]);
    }
}

__global__ void bound(const long long* centre, const long long* radius, long long* bounds, int rows)
{
    __shared__ long long lows[8], highs[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long low = 0x7fffffffffffffffLL, high = -0x7fffffffffffffffLL - 1;
    int dominant = 0;
    if (i < rows) {
        long long c = centre[i], r = radius[i];
        {
            low = c - r;
            high = c + r;
            dominant = (c < 0 ? -c : c) > r;
        }
    }
    for (int d = 16; d > 0; d >>= 1) {
        low = min(low, __shfl_xor_sync(0xffffffffu, low, d));
        high = max(high, __shfl_xor_sync(0xffffffffu, high, d));
    }
    if (threadIdx.x % 32 == 0) {
        lows[threadIdx.x / 32] = low;
        highs[threadIdx.x / 32] = high;
    }
    int count = __syncthreads_count(dominant);
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++) {
            low = min(low, lows[w]);
            high = max(high, highs[w]);
        }
        atomicMin(&bounds[0], low);
        atomicMax(&bounds[1], high);
        if (count) atomicAdd((u64*)&bounds[2], (u64)count);
    }
}

void interval(const int* row, const int* col, const int* val, long long* centre, long long* radius,
              long long* bounds, int nnz, int rows)
{
    clear<<<(rows + 255) / 256, 256>>>(centre, radius, bounds, rows);
    gather<<<(nnz + 255) / 256, 256>>>(row, col, val, centre, radius, nnz, rows);
    bound<<<(rows + 255) / 256, 256>>>(centre, radius, bounds, rows);
}
