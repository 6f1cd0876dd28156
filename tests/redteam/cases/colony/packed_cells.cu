// Neighbourhood statistics of a colony: for each animal the number of others within `radius` (at most 64)
// and the sum of their weights. Positions are integers in a square of 4096 x 4096, binned into 64 x 64 cells.
#include <cuda_runtime.h>

#define SIDE 64                 // cells a side
#define CELLS (SIDE * SIDE)
#define SHIFT 6                 // a cell is 64 wide

__device__ __forceinline__ int cell_of(int x, int y) { return (y >> SHIFT) * SIDE + (x >> SHIFT); }

__global__ void count_cells(const int* x, const int* y, int* start, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&start[cell_of(x[i], y[i]) + 1], 1);
}

__global__ void scan_cells(int* start, int* cursor)     // one block of 1024 threads, four cells each
{
    __shared__ int sum[1024];
    int t = threadIdx.x, own[4], total = 0;
    for (int k = 0; k < 4; ++k) { own[k] = start[4 * t + k + 1]; total += own[k]; }
    sum[t] = total;
    __syncthreads();
    for (int d = 1; d < 1024; d <<= 1) {
        int v = t >= d ? sum[t - d] : 0;
        __syncthreads();
        sum[t] += v;
        __syncthreads();
    }
    int run = sum[t] - total;
    for (int k = 0; k < 4; ++k) {
        cursor[4 * t + k] = run;
        run += own[k];
        start[4 * t + k + 1] = run;
    }
}

// the animals are copied in cell order, so that the gather reads along straight lines
__global__ void fill_cells(const int* x, const int* y, const float* weight, int* cursor, int4* packed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int px = x[i], py = y[i];
    packed[atomicAdd(&cursor[cell_of(px, py)], 1)] = make_int4(px, py, __float_as_int(weight[i]), i);
}

// a warp for an animal; the three cells of a row of cells lie one after the other, so that they are one range
__global__ void gather(const int* start, const int4* packed, int* count, float* load, int n, int radius)
{
    int lane = threadIdx.x & 31, warps = gridDim.x * (blockDim.x >> 5);
    for (int p = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); p < n; p += warps) {
        int4 me = packed[p];
        int cx = me.x >> SHIFT, cy = me.y >> SHIFT, left = max(cx - 1, 0), right = min(cx + 1, SIDE - 1), found = 0;
        float sum = 0.0f;
        for (int gy = max(cy - 1, 0); gy <= min(cy + 1, SIDE - 1); ++gy) {
            int end = start[gy * SIDE + right + 1];
            for (int s = start[gy * SIDE + left] + lane; s < end; s += 32) {
                int4 q = packed[s];
                int dx = q.x - me.x, dy = q.y - me.y;
                if (s != p && dx * dx + dy * dy <= radius * radius) { ++found; sum += __int_as_float(q.z); }
            }
        }
        found = __reduce_add_sync(0xffffffffu, found);
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (lane == 0) { count[me.w] = found; load[me.w] = sum; }
    }
}

extern "C" void colony(const int* x, const int* y, const float* weight, int* count, float* load, int n, int radius)
{
    // the workspace stays between calls and only ever grows; cudaFree waits for whatever still uses the old one
    static int* cells = nullptr;
    static int4* packed = nullptr;
    static int room = 0;
    if (!cells) cudaMalloc((void**)&cells, (2 * CELLS + 1) * sizeof(int));
    if (n > room) {
        cudaFree(packed);
        cudaMalloc((void**)&packed, (size_t)n * sizeof(int4));
        room = n;
    }
    int *start = cells, *cursor = cells + CELLS + 1;
    cudaMemsetAsync(start, 0, (CELLS + 1) * sizeof(int), 0);
    int blocks = (n + 255) / 256;
    count_cells<<<blocks, 256>>>(x, y, start, n);
    scan_cells<<<1, 1024>>>(start, cursor);
    fill_cells<<<blocks, 256>>>(x, y, weight, cursor, packed, n);
    gather<<<min((n + 7) / 8, 2112), 256>>>(start, packed, count, load, n, radius);
}
