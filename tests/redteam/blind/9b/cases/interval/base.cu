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
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= nnz) return;
    int r = row[k], c = col[k];
    if (r < 0 || r >= rows || c < 0 || c >= rows) return;
    long long v = val[k];
    if (r == c)
        atomicAdd((u64*)&centre[r], (u64)v);
    else
        atomicAdd((u64*)&radius[r], (u64)(v < 0 ? -v : v));
}

__global__ void bound(const long long* centre, const long long* radius, long long* bounds, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    long long c = centre[i], r = radius[i];
    atomicMin(&bounds[0], c - r);
    atomicMax(&bounds[1], c + r);
    if ((c < 0 ? -c : c) > r) atomicAdd((u64*)&bounds[2], (u64)1);
}

void interval(const int* row, const int* col, const int* val, long long* centre, long long* radius,
              long long* bounds, int nnz, int rows)
{
    clear<<<(rows + 255) / 256, 256>>>(centre, radius, bounds, rows);
    gather<<<(nnz + 255) / 256, 256>>>(row, col, val, centre, radius, nnz, rows);
    bound<<<(rows + 255) / 256, 256>>>(centre, radius, bounds, rows);
}
