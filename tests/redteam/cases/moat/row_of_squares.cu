// Squared distance of every cell to the nearest water cell (land == 0), by columns and then by rows.
// gap: distance to the nearest water in the cell's own column, -1 where the column has none.
// d2: squared distance to the nearest water of the map, -1 where the map has none.
#include <climits>
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) columns(const unsigned char* land, int* gap, int h, int w)
{
    int x = blockIdx.x * 256 + threadIdx.x;
    if (x >= w) return;
    int d = -1;
    for (int y = 0; y < h; ++y) {
        if (land[y * w + x] == 0) d = 0;
        else if (d >= 0) ++d;
        gap[y * w + x] = d;
    }
    d = -1;
    for (int y = h - 1; y >= 0; --y) {
        if (land[y * w + x] == 0) d = 0;
        else if (d >= 0) ++d;
        int g = gap[y * w + x];
        if (d >= 0 && (g < 0 || d < g)) gap[y * w + x] = d;
    }
}

__global__ void __launch_bounds__(256) rows(const int* gap, int* d2, int h, int w)
{
    // the squares of the row are held in shared memory, two bytes a column
    extern __shared__ unsigned short near[];
    int y = blockIdx.x;
    const int* row = gap + y * w;
    for (int k = threadIdx.x; k < w; k += 256) {
        int g = row[k];
        near[k] = g < 0 ? 0xffff : (unsigned short)min(g * g, 0xfffe);
    }
    __syncthreads();
    for (int x = threadIdx.x; x < w; x += 256) {
        int best = INT_MAX;
        for (int k = 0; k < w; ++k) {
            int g = near[k];
            if (g == 0xffff) continue;
            int d = (x - k) * (x - k) + g;
            if (d < best) best = d;
        }
        d2[y * w + x] = best == INT_MAX ? -1 : best;
    }
}

extern "C" void moat(const unsigned char* land, int* gap, int* d2, int h, int w)
{
    columns<<<(w + 255) / 256, 256>>>(land, gap, h, w);
    rows<<<h, 256, w * sizeof(unsigned short)>>>(gap, d2, h, w);
}
