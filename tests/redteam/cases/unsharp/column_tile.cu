// Unsharp mask on a byte image: the mean of a (2r+1) x (2r+1) window (edges repeated, rounded to nearest) is taken away
// from the pixel, and the pixel moves by amount/16 of the difference. Two passes: row sums, then column sums.
#include <cuda_runtime.h>

#define BX 32
#define BY 8
#define HALO 32

__global__ void row_sums(const unsigned char* image, int* sums, int h, int w, int r)
{
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h) return;
    const unsigned char* row = image + (size_t)y * w;
    int s = 0;
    for (int k = -r; k <= r; ++k) s += row[min(max(x + k, 0), w - 1)];
    sums[(size_t)y * w + x] = s;
}

__device__ __forceinline__ int mean_of(int sum, int count)
{
    return (sum + count / 2) / count;
}

__device__ __forceinline__ unsigned char sharpened(int p, int mean, int amount)
{
    return (unsigned char)min(max(p + ((p - mean) * amount >> 4), 0), 255);
}

__global__ void sharpen(const unsigned char* image, const int* sums, unsigned char* out, int h, int w, int r, int amount)
{
    // the block's rows and r more on either side, read once
    __shared__ int tile[BY + 2 * HALO][BX];
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    const int top = blockIdx.y * BY - r;
    for (int t = threadIdx.y; t < BY + 2 * r; t += BY)
        if (x < w) tile[t][threadIdx.x] = sums[(size_t)min(max(top + t, 0), h - 1) * w + x];
    __syncthreads();
    if (x >= w || y >= h) return;
    const int count = (2 * r + 1) * (2 * r + 1);
    int s = 0;
    for (int k = 0; k <= 2 * r; ++k) s += tile[threadIdx.y + k][threadIdx.x];
    const size_t at = (size_t)y * w + x;
    out[at] = sharpened(image[at], mean_of(s, count), amount);
}

extern "C" void unsharp(const unsigned char* image, unsigned char* out, int h, int w, int r, int amount)
{
    static int* sums = nullptr;
    static size_t room = 0;
    const size_t need = (size_t)h * w;
    if (need > room) {
        cudaFree(sums);
        cudaMalloc(&sums, need * sizeof(int));
        room = need;
    }
    const dim3 block(BX, BY);
    const dim3 row_grid((w + BX - 1) / BX, (h + BY - 1) / BY);
    const dim3 col_grid((w + BX - 1) / BX, (h + BY - 1) / BY);
    row_sums<<<row_grid, block>>>(image, sums, h, w, r);
    sharpen<<<col_grid, block>>>(image, sums, out, h, w, r, amount);
}
