// An oyster reef on a tidal flat that closes on itself in both directions. A cell's height (0..255) moves towards its
// four neighbours, grows with the food that the tide brings and wears off with its own height.
// steps seasons from the seed; the reef after the last one is written.
#include <cuda_runtime.h>
#include <stddef.h>

// what the kept graph was built for
struct Built {
    const int *seed, *food;
    int *reef, *spare;
    int rows, cols, steps;
};

static __device__ __forceinline__ int season(int own, int around, int food)
{
    int next = own + (around - 4 * own) / 8 + ((food - (own >> 2)) >> 3);
    return min(255, max(0, next));
}

__global__ void season_kernel(const int* from, const int* food, int* to, int rows, int cols)
{
    size_t cell = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= (size_t)rows * cols) return;
    int r = (int)(cell / cols), c = (int)(cell % cols);
    size_t north = (size_t)(r == 0 ? rows - 1 : r - 1) * cols + c;
    size_t south = (size_t)(r == rows - 1 ? 0 : r + 1) * cols + c;
    size_t west = (size_t)r * cols + (c == 0 ? cols - 1 : c - 1);
    size_t east = (size_t)r * cols + (c == cols - 1 ? 0 : c + 1);
    int around = from[north] + from[south] + from[west] + from[east];
    to[cell] = season(from[cell], around, food[cell]);
}

extern "C" void oyster(const int* seed, const int* food, int* reef, int rows, int cols, int steps)
{
    static int* spare = nullptr;
    static size_t held = 0;
    size_t cells = (size_t)rows * cols;
    if (cells > held) {
        if (spare) cudaFree(spare);
        cudaMalloc((void**)&spare, cells * sizeof(int));
        held = cells;
    }
    static cudaGraphExec_t kept = nullptr;
    static cudaStream_t side = nullptr;
    static Built built;
    if (!kept || built.seed != seed || built.food != food || built.reef != reef || built.spare != spare ||
        built.rows != rows || built.cols != cols || built.steps != steps) {
        cudaGraph_t graph;
        if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        if (kept) {
            cudaDeviceSynchronize();
            cudaGraphExecDestroy(kept);
            kept = nullptr;
        }
        cudaStreamBeginCapture(side, cudaStreamCaptureModeRelaxed);
        const int* from = seed;
        for (int t = 0; t < steps; ++t) {
            int* to = ((steps - 1 - t) & 1) ? spare : reef;
            season_kernel<<<(unsigned)((cells + 255) / 256), 256, 0, side>>>(from, food, to, rows, cols);
            from = to;
        }
        cudaStreamEndCapture(side, &graph);
        cudaGraphInstantiate(&kept, graph, 0);
        cudaGraphDestroy(graph);
        built = Built{seed, food, reef, spare, rows, cols, steps};
    }
    cudaGraphLaunch(kept, 0);
}
