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

#define WIDE 32
#define HIGH 16
#define SEASONS 2

static __device__ __forceinline__ int wrapped(int i, int n)
{
    i %= n;
    return i < 0 ? i + n : i;
}

// Two seasons of a tile in shared memory, with a rim as wide as there are seasons
__global__ void seasons_kernel(const int* from, const int* food, int* to, int rows, int cols)
{
    __shared__ int cell[2][HIGH + 2 * SEASONS][WIDE + 2 * SEASONS];
    __shared__ int eat[HIGH + 2 * SEASONS][WIDE + 2 * SEASONS];
    int left = blockIdx.x * WIDE - SEASONS, top = blockIdx.y * HIGH - SEASONS;
    const int w = WIDE + 2 * SEASONS, h = HIGH + 2 * SEASONS;
    for (int k = threadIdx.x; k < w * h; k += blockDim.x) {
        int y = k / w, x = k % w;
        size_t at = (size_t)wrapped(top + y, rows) * cols + wrapped(left + x, cols);
        cell[0][y][x] = from[at];
        eat[y][x] = food[at];
    }
    __syncthreads();
    for (int n = 0; n < SEASONS; ++n) {
        int rim = n + 1;
        int ww = w - 2 * rim, hh = h - 2 * rim;
        for (int k = threadIdx.x; k < ww * hh; k += blockDim.x) {
            int y = rim + k / ww, x = rim + k % ww;
            const int(*c)[WIDE + 2 * SEASONS] = cell[n & 1];
            int around = c[y - 1][x] + c[y + 1][x] + c[y][x - 1] + c[y][x + 1];
            cell[(n + 1) & 1][y][x] = season(c[y][x], around, eat[y][x]);
        }
        __syncthreads();
    }
    for (int k = threadIdx.x; k < WIDE * HIGH; k += blockDim.x) {
        int y = SEASONS + k / WIDE, x = SEASONS + k % WIDE;
        if (top + y < rows && left + x < cols)
            to[(size_t)(top + y) * cols + left + x] = cell[SEASONS & 1][y][x];
    }
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
    int launches = steps / SEASONS + steps % SEASONS;
    dim3 grid((cols + WIDE - 1) / WIDE, (rows + HIGH - 1) / HIGH);
    for (int n = 0; n < launches; ++n) {
        int* to = ((launches - 1 - n) & 1) ? spare : reef;
        if (n < steps / SEASONS) seasons_kernel<<<grid, 256>>>(from, food, to, rows, cols);
        else season_kernel<<<(unsigned)((cells + 255) / 256), 256>>>(from, food, to, rows, cols);
        from = to;
    }
}
