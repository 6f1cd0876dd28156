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

__device__ void put(int r, int c, int w, long long* centre, long long* radius, int rows)
{
    if ((unsigned)r >= (unsigned)rows || (unsigned)c >= (unsigned)rows || w == 0) return;
    if (r == c) atomicAdd((u64*)&centre[r], (u64)(long long)w);
    else atomicAdd((u64*)&radius[r], (u64)(w < 0 ? 0u - (unsigned)w : (unsigned)w));
}

__global__ void gather(const int* row, const int* col, const int* val, long long* centre, long long* radius,
                       int nnz, int rows)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    size_t low = (size_t)row | (size_t)col | (size_t)val;
    if (low & 15) {
        if (k < nnz) put(row[k], col[k], val[k], centre, radius, rows);
        return;
    }
    // the first quarter of the threads takes four entries each
    if (k < nnz / 4) {
        int4 r = ((const int4*)row)[k], c = ((const int4*)col)[k], v = ((const int4*)val)[k];
        put(r.x, c.x, v.x, centre, radius, rows);
        put(r.y, c.y, v.y, centre, radius, rows);
        put(r.z, c.z, v.z, centre, radius, rows);
        put(r.w, c.w, v.w, centre, radius, rows);
    } else if (k >= nnz / 4 * 4 && k < nnz) {
        put(row[k], col[k], val[k], centre, radius, rows);
    }
    // a lonely tail: nnz < 4 has no quads, and then k >= 0 takes all entries
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
