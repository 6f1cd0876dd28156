// Slumping slopes on a grid of heights: in every step a cell that stands more than TALUS above its lowest neighbour
// (left, right, above, below) loses a quarter of the difference, all cells at once. `steps` steps, result in `out`.
#include <climits>
#include <cuda_runtime.h>

constexpr int TALUS = 8;
constexpr int BX = 32, BY = 8;

__device__ __forceinline__ int slump(int height, int lowest)
{
    int drop = height - lowest;
    return drop > TALUS ? height - (drop >> 2) : height;
}

__global__ void step(const int* from, int* to, int width, int height)
{
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= width || y >= height)
        return;
    size_t at = (size_t)y * width + x;
    int mine = from[at], low = mine;
    if (x > 0)
        low = min(low, from[at - 1]);
    if (x + 1 < width)
        low = min(low, from[at + 1]);
    if (y > 0)
        low = min(low, from[at - width]);
    if (y + 1 < height)
        low = min(low, from[at + width]);
    to[at] = slump(mine, low);
}

// Two steps at once: a tile with two cells of surroundings, one ring of which is stepped as well.
__global__ void twosteps(const int* from, int* to, int width, int height)
{
    __shared__ int tile[BY + 4][BX + 4], once[BY + 2][BX + 2];
    int x0 = blockIdx.x * BX, y0 = blockIdx.y * BY;
    int me = threadIdx.y * BX + threadIdx.x;
    for (int c = me; c < (BY + 4) * (BX + 4); c += BX * BY) {
        int cx = c % (BX + 4), cy = c / (BX + 4);
        int gx = x0 + cx - 2, gy = y0 + cy - 2;
        int value = INT_MAX;                       // outside: higher than everything
        {
            bool ring = cx > 0 && cx < BX + 3 && cy > 0 && cy < BY + 3;      // the corners beyond it count for nothing
            if (ring && gx >= 0 && gx < width && gy >= 0 && gy < height)
                value = from[(size_t)gy * width + gx];
        }
        tile[cy][cx] = value;
    }
    __syncthreads();
    for (int c = me; c < (BY + 2) * (BX + 2); c += BX * BY) {
        int cx = c % (BX + 2), cy = c / (BX + 2);
        int gx = x0 + cx - 1, gy = y0 + cy - 1;
        int value = INT_MAX;
        if (gx >= 0 && gx < width && gy >= 0 && gy < height) {
            int mine = tile[cy + 1][cx + 1];
            int low = min(min((int)tile[cy + 1][cx], (int)tile[cy + 1][cx + 2]), min((int)tile[cy][cx + 1], (int)tile[cy + 2][cx + 1]));
            value = slump(mine, min(mine, low));
        }
        once[cy][cx] = value;
    }
    __syncthreads();
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x < width && y < height) {
        int cx = threadIdx.x + 1, cy = threadIdx.y + 1;
        int mine = once[cy][cx];
        int low = min(min((int)once[cy][cx - 1], (int)once[cy][cx + 1]), min((int)once[cy - 1][cx], (int)once[cy + 1][cx]));
        to[(size_t)y * width + x] = slump(mine, min(mine, low));
    }
}

extern "C" void ravine(const int* bed, int* out, int width, int height, int steps)
{
    static int* other = nullptr;
    static size_t room = 0;
    size_t cells = (size_t)width * height;
    if (cells > room) {
        cudaFree(other);
        cudaMalloc(&other, cells * sizeof(int));
        room = cells;
    }
    dim3 block(BX, BY), grid((width + BX - 1) / BX, (height + BY - 1) / BY);
    if (steps == 0)
        cudaMemcpyAsync(out, bed, cells * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    const int* from = bed;
    int launches = (steps + 1) / 2;                 // an odd step first, then pairs
    for (int s = 0; s < launches; s++) {
        int* to = (launches - 1 - s) % 2 ? other : out;
        if (s == 0 && steps % 2)
            step<<<grid, block>>>(from, to, width, height);
        else
            twosteps<<<grid, block>>>(from, to, width, height);
        from = to;
    }
}
