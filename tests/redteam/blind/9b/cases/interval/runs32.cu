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
    int k = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int r = -1;
    int diag = 0, off = 0;
    if (k < nnz) {
        int c = col[k];
        r = row[k];
        if (r < 0 || r >= rows || c < 0 || c >= rows) r = -1;
        else if (r == c) diag = val[k];
        else off = abs(val[k]);
    }
    // runs of equal rows within the warp are added up to their first lane
    int before = __shfl_up_sync(0xffffffffu, r, 1);
    bool head = lane == 0 || before != r;
    unsigned heads = __ballot_sync(0xffffffffu, head);
    unsigned later = lane == 31 ? 0 : heads & (0xfffffffeu << lane);
    int end = later ? __ffs(later) - 1 : 32;
    for (int d = 1; d < 32; d <<= 1) {
        int a = __shfl_down_sync(0xffffffffu, diag, d);
        int b = __shfl_down_sync(0xffffffffu, off, d);
        if (lane + d < end) {
            diag += a;
            off += b;
        }
    }
    if (head && r >= 0) {
        if (diag) atomicAdd((u64*)&centre[r], (u64)(long long)diag);
        if (off) atomicAdd((u64*)&radius[r], (u64)(unsigned)off);
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
