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
    return p[x] - ((p[x - 1] + p[mirror(x + 1, w)]) >> 1);
}

__device__ int row_value(const int* p, int x, int w)
{
    if (w == 1) return p[0];
    if (x & 1) return row_detail(p, x, w);
    return p[x] + ((row_detail(p, mirror(x - 1, w), w) + row_detail(p, mirror(x + 1, w), w) + 2) >> 2);
}

#define STRIP 32             // rows a thread walks down; even

// A thread owns one column of a strip and walks down it two rows at a time. The row-lifted values of the last three rows
// and the last detail stay in registers; the detail above a strip is the last one of the strip above.
__global__ void lift(const int* image, int* out, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y0 = blockIdx.y * STRIP;
    if (x >= w) return;
    if (h == 1) { out[x] = row_value(image, x, w); return; }
    auto at = [&](int y) { return row_value(image + (size_t)mirror(y, h) * w, x, w); };
    int even = at(y0), detail;
    if (y0 > 0) detail = __ldcg(out + (size_t)(y0 - 1) * w + x);
    else detail = at(1) - ((even + at(2)) >> 1);            // the mirror of the first one below
    int end = min(y0 + STRIP, h);
    for (int y = y0; y < end; y += 2) {
        int below = detail;                                 // y + 1 is beyond the last row: mirrored
        int next = 0;
        if (y + 1 < h) {
            next = at(y + 2);
            below = at(y + 1) - ((even + next) >> 1);
            out[(size_t)(y + 1) * w + x] = below;
        }
        out[(size_t)y * w + x] = even + ((detail + below + 2) >> 2);
        detail = below;
        even = next;
    }
}

extern "C" void lifting53(const int* image, int* out, int h, int w)
{
    dim3 block(128), grid((w + 127) / 128, (h + STRIP - 1) / STRIP);
    lift<<<grid, block>>>(image, out, h, w);
}
