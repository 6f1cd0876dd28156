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
    // a small cache of row sums for the block; whoever finds its slot taken goes to memory
    __shared__ unsigned short owner[64];
    __shared__ u64 sums[64][2];
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 64) {
        owner[threadIdx.x] = 0;
        sums[threadIdx.x][0] = sums[threadIdx.x][1] = 0;
    }
    __syncthreads();
    if (k < nnz) {
        int r = row[k], c = col[k];
        if (r >= 0 && r < rows && c >= 0 && c < rows) {
            long long v = val[k];
            u64 add = (u64)(r == c || v >= 0 ? v : -v);
            int slot = r % 64;
            unsigned short tag = (unsigned short)(r / 64 + 1);
            unsigned short held = atomicCAS(&owner[slot], (unsigned short)0, tag);
            if (held == 0 || held == tag) atomicAdd(&sums[slot][r != c], add);
            else atomicAdd((u64*)(r == c ? centre : radius) + r, add);
        }
    }
    __syncthreads();
    if (threadIdx.x < 64 && owner[threadIdx.x]) {
        int r = (owner[threadIdx.x] - 1) * 64 + threadIdx.x;
        if (sums[threadIdx.x][0]) atomicAdd((u64*)&centre[r], sums[threadIdx.x][0]);
        if (sums[threadIdx.x][1]) atomicAdd((u64*)&radius[r], sums[threadIdx.x][1]);
    }
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
