// One level of the reversible 5/3 wavelet (JPEG 2000) in two dimensions, in the interleaved order of the lifting scheme:
// first along the rows, then along the columns. Odd places hold details, even places the smooth part; edges are mirrored;
// a side of length 1 is left as it is. >> rounds down.
#include <cuda_runtime.h>

// place of the neighbour on the left or right of x with the mirror at both ends (length > 1)
__device__ __forceinline__ int mirror(int x, int length)
{
    return x < 0 ? -x : x >= length ? 2 * (length - 1) - x : x;
}

__device__ __forceinline__ int row_detail(const int* p, int x, int w)
{
    // pixels are not negative, so that the plain quotient is the floor
    return p[x] - (p[x - 1] + p[mirror(x + 1, w)]) / 2;
}

__device__ int row_value(const int* p, int x, int w)
{
    if (w == 1) return p[0];
    if (x & 1) return row_detail(p, x, w);
    return p[x] + ((row_detail(p, mirror(x - 1, w), w) + row_detail(p, mirror(x + 1, w), w) + 2) >> 2);
}

__device__ __forceinline__ int column_detail(const int* image, int x, int y, int h, int w)
{
    int above = row_value(image + (size_t)(y - 1) * w, x, w);
    int below = row_value(image + (size_t)mirror(y + 1, h) * w, x, w);
    return row_value(image + (size_t)y * w, x, w) - ((above + below) >> 1);
}

__global__ void lift(const int* image, int* out, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int v;
    if (h == 1) v = row_value(image, x, w);
    else if (y & 1) v = column_detail(image, x, y, h, w);
    else v = row_value(image + (size_t)y * w, x, w) +
             ((column_detail(image, x, mirror(y - 1, h), h, w) + column_detail(image, x, mirror(y + 1, h), h, w) + 2) >> 2);
    out[(size_t)y * w + x] = v;
}

extern "C" void lifting53(const int* image, int* out, int h, int w)
{
    dim3 block(64, 4), grid((w + 63) / 64, (h + 3) / 4);
    lift<<<grid, block>>>(image, out, h, w);
}
