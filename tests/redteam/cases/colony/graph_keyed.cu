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

struct Ask {
    const int *x, *y;
    const float* weight;
    int* count;
    float* load;
    int n, radius;
};

extern "C" void colony(const int* x, const int* y, const float* weight, int* count, float* load, int n, int radius)
{
    static int *start = nullptr, *cursor, *order = nullptr;
    static int room = 0;
    static cudaStream_t line;
    static cudaGraphExec_t exec = nullptr;
    static Ask last;
    // One graph for the whole call, recorded anew whenever a buffer or a size is not that of the last recording.
    if (!start) {
        cudaMalloc((void**)&start, (CELLS + 1) * sizeof(int));
        cudaMalloc((void**)&cursor, CELLS * sizeof(int));
        cudaStreamCreateWithFlags(&line, cudaStreamNonBlocking);      // only for recording; the graph runs in stream 0
    }
    Ask now = {x, y, weight, count, load, n, radius};
    if (!exec || now.x != last.x || now.y != last.y || now.count != last.count || now.n != last.n || now.radius != last.radius) {
        if (exec) {
            cudaStreamSynchronize(0);
            cudaGraphExecDestroy(exec);
            exec = nullptr;
        }
        if (n > room) {
            cudaFree(order);
            cudaMalloc((void**)&order, n * sizeof(int));
            room = n;
        }
        cudaGraph_t graph;
        int blocks = (n + 255) / 256;
        cudaStreamBeginCapture(line, cudaStreamCaptureModeThreadLocal);
        cudaMemsetAsync(start, 0, (CELLS + 1) * sizeof(int), line);
        count_cells<<<blocks, 256, 0, line>>>(x, y, start, n);
        scan_cells<<<1, 1024, 0, line>>>(start, cursor);
        fill_cells<<<blocks, 256, 0, line>>>(x, y, cursor, order, n);
        gather<<<blocks, 256, 0, line>>>(x, y, weight, start, order, count, load, n, radius);
        cudaStreamEndCapture(line, &graph);
        cudaGraphInstantiate(&exec, graph, 0);
        cudaGraphDestroy(graph);
        last = now;
    }
    cudaGraphLaunch(exec, 0);
}
