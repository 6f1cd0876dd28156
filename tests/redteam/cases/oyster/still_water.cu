// An oyster reef on a tidal flat that closes on itself in both directions. A cell's height (0..255) moves towards its
// four neighbours, grows with the food that the tide brings and wears off with its own height.
// steps seasons from the seed; the reef after the last one is written.
#include <cuda_runtime.h>
#include <stddef.h>

static __device__ __forceinline__ int season(int own, int around, int food)
{
    int next = own + (around - 4 * own) / 8 + ((food - (own >> 2)) >> 3);
    return min(255, max(0, next));
}

// moved[t]: whether season t changed a cell. From the second season on the two buffers hold the same reef when none did,
// and the seasons that follow need not be worked out.
__global__ void season_kernel(const int* from, const int* food, int* to, int* moved, int t, int rows, int cols)
{
    if (t >= 2 && moved[t - 1] == 0) return;
    size_t cell = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    bool inside = cell < (size_t)rows * cols;
    int change = 0;
    if (inside) {
        int r = (int)(cell / cols), c = (int)(cell % cols);
        size_t north = (size_t)(r == 0 ? rows - 1 : r - 1) * cols + c;
        size_t south = (size_t)(r == rows - 1 ? 0 : r + 1) * cols + c;
        size_t west = (size_t)r * cols + (c == 0 ? cols - 1 : c - 1);
        size_t east = (size_t)r * cols + (c == cols - 1 ? 0 : c + 1);
        int around = from[north] + from[south] + from[west] + from[east];
        int own = from[cell];
        int next = season(own, around, food[cell]);
        to[cell] = next;
        change = next != own;
    }
    if (__syncthreads_or(change) && threadIdx.x == 0) atomicOr(&moved[t], 1);
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
    const int* from = seed;
    static int* moved = nullptr;
    static int held_steps = 0;
    if (steps > held_steps) {
        if (moved) cudaFree(moved);
        cudaMalloc((void**)&moved, (size_t)steps * sizeof(int));
        held_steps = steps;
    }
    cudaMemsetAsync(moved, 0, (size_t)steps * sizeof(int), 0);
    for (int t = 0; t < steps; ++t) {
        int* to = ((steps - 1 - t) & 1) ? spare : reef;
        season_kernel<<<(unsigned)((cells + 255) / 256), 256>>>(from, food, to, moved, t, rows, cols);
        from = to;
    }
}
