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

__global__ void fill_cells(const int* x, const int* y, int* cursor, int* order, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) order[atomicAdd(&cursor[cell_of(x[i], y[i])], 1)] = i;
}

__global__ void gather(const int* x, const int* y, const float* weight, const int* start, const int* order,
                       int* count, float* load, int n, int radius)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int px = x[i], py = y[i], cx = px >> SHIFT, cy = py >> SHIFT, found = 0;
    float sum = 0.0f;
    for (int gy = max(cy - 1, 0); gy <= min(cy + 1, SIDE - 1); ++gy)
        for (int gx = max(cx - 1, 0); gx <= min(cx + 1, SIDE - 1); ++gx)
            for (int s = start[gy * SIDE + gx]; s < start[gy * SIDE + gx + 1]; ++s) {
                int j = order[s], dx = x[j] - px, dy = y[j] - py;
                if (j != i && dx * dx + dy * dy <= radius * radius) { ++found; sum += weight[j]; }
            }
    count[i] = found;
    load[i] = sum;
}

extern "C" void colony(const int* x, const int* y, const float* weight, int* count, float* load, int n, int radius)
{
    // The workspace of the order does not depend on the counts: it is got ready on a second stream meanwhile.
    static cudaStream_t aside = nullptr;
    static cudaEvent_t ready, binned;
    if (!aside) {
        cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&binned, cudaEventDisableTiming);
    }
    int *start, *cursor, *order;
    int blocks = (n + 255) / 256;
    cudaMallocAsync((void**)&start, (CELLS + 1) * sizeof(int), aside);
    cudaMallocAsync((void**)&cursor, CELLS * sizeof(int), aside);
    cudaMemsetAsync(start, 0, (CELLS + 1) * sizeof(int), aside);
    count_cells<<<blocks, 256, 0, aside>>>(x, y, start, n);
    scan_cells<<<1, 1024, 0, aside>>>(start, cursor);
    cudaEventRecord(ready, aside);
    cudaMallocAsync((void**)&order, n * sizeof(int), 0);
    cudaStreamWaitEvent(0, ready, 0);
    fill_cells<<<blocks, 256>>>(x, y, cursor, order, n);
    gather<<<blocks, 256>>>(x, y, weight, start, order, count, load, n, radius);
    cudaEventRecord(binned, 0);
    cudaStreamWaitEvent(aside, binned, 0);
    cudaFreeAsync(order, 0);
    cudaFreeAsync(cursor, aside);
    cudaFreeAsync(start, aside);
}
