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

// Heights lie between 0 and 255, those of the seed as those of every season: bytes will do between the seasons.
template <typename From, typename To>
__global__ void season_kernel(const From* from, const int* food, To* to, int rows, int cols)
{
    size_t cell = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= (size_t)rows * cols) return;
    int r = (int)(cell / cols), c = (int)(cell % cols);
    size_t north = (size_t)(r == 0 ? rows - 1 : r - 1) * cols + c;
    size_t south = (size_t)(r == rows - 1 ? 0 : r + 1) * cols + c;
    size_t west = (size_t)r * cols + (c == 0 ? cols - 1 : c - 1);
    size_t east = (size_t)r * cols + (c == cols - 1 ? 0 : c + 1);
    int around = (int)from[north] + (int)from[south] + (int)from[west] + (int)from[east];
    to[cell] = (To)season(from[cell], around, food[cell]);
}

extern "C" void oyster(const int* seed, const int* food, int* reef, int rows, int cols, int steps)
{
    static unsigned char* spare = nullptr;
    static size_t held = 0;
    size_t cells = (size_t)rows * cols;
    if (cells > held) {
        if (spare) cudaFree(spare);
        cudaMalloc((void**)&spare, 2 * cells);
        held = cells;
    }
    unsigned blocks = (unsigned)((cells + 255) / 256);
    unsigned char* a = spare;
    unsigned char* b = spare + cells;
    if (steps <= 0) return;
    if (steps == 1) {
        season_kernel<int, int><<<blocks, 256>>>(seed, food, reef, rows, cols);
        return;
    }
    season_kernel<int, unsigned char><<<blocks, 256>>>(seed, food, a, rows, cols);
    for (int t = 1; t < steps - 1; ++t) {
        season_kernel<unsigned char, unsigned char><<<blocks, 256>>>(a, food, b, rows, cols);
        unsigned char* old = a;
        a = b;
        b = old;
    }
    season_kernel<unsigned char, int><<<blocks, 256>>>(a, food, reef, rows, cols);
}
