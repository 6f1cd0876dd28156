#include <cuda_runtime.h>
#include <cstdint>

// PNG row filters: 0 none, 1 sub, 2 up, 3 average, 4 Paeth.
__device__ int paeth_of(int left, int up, int corner)
{
    int p = left + up - corner;
    int pa = abs(p - left), pb = abs(p - up), pc = abs(p - corner);
    if (pa <= pb && pa <= pc) return left;
    return pb <= pc ? up : corner;
}

__device__ uint8_t residue(const uint8_t* image, int filter, int row, int col, int width, int bpp)
{
    const uint8_t* here = image + (size_t)row * width + col;
    int left = col >= bpp ? here[-bpp] : 0;
    int up = row > 0 ? here[-width] : 0;
    int corner = row > 0 && col >= bpp ? here[-width - bpp] : 0;
    int guess = 0;
    if (filter == 1) guess = left;
    if (filter == 2) guess = up;
    if (filter == 3) guess = (left + up) >> 1;
    if (filter == 4) guess = paeth_of(left, up, corner);
    return (uint8_t)(here[0] - guess);
}

__device__ unsigned size_of(uint8_t r) { return r < 128 ? r : 256 - r; }

// sum over the 128 threads of the block; all threads get it
__device__ unsigned block_sum(unsigned v, unsigned* part)
{
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    return part[0] + part[1] + part[2] + part[3];
}

__global__ void choose(const uint8_t* image, uint8_t* chosen, int width, int bpp)
{
    __shared__ unsigned part[4];
    int row = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned least = 0xffffffffu;
    int best = 0;
    int share = (width + 3) / 4;               // each warp has a quarter of the row
    int from = min(width, warp * share), to = min(width, from + share);
    for (int f = 0; f < 5; f++) {
        unsigned mine = 0;
        for (int start = from; start < to; start += 32) {
            unsigned v = start + lane < to ? size_of(residue(image, f, row, start + lane, width, bpp)) : 0;
            for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
            mine += v;
            if (mine >= least) { mine = 0xffffffffu; break; }   // this filter has lost already
        }
        unsigned total = block_sum(lane == 0 ? mine : 0, part);
        if (total < least) { least = total; best = f; }
    }
    if (threadIdx.x == 0) chosen[row] = (uint8_t)best;
}

__global__ void apply(const uint8_t* image, const uint8_t* chosen, uint8_t* coded, int rows, int width, int bpp)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)rows * width) return;
    int row = (int)(i / width), col = (int)(i % width);
    coded[i] = residue(image, chosen[row], row, col, width, bpp);
}

void paeth(const uint8_t* image, uint8_t* chosen, uint8_t* coded, int rows, int width, int bpp)
{
    if (bpp < 1) bpp = 1;
    choose<<<rows, 128>>>(image, chosen, width, bpp);
    long long total = (long long)rows * width;
    apply<<<(unsigned)((total + 255) / 256), 256>>>(image, chosen, coded, rows, width, bpp);
}
