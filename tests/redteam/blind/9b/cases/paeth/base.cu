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

// One block a row: the filter with the smallest sum of |residue| (as signed bytes), the first one on ties.
__global__ void choose(const uint8_t* image, uint8_t* chosen, int width, int bpp)
{
    __shared__ unsigned cost[5];
    int row = blockIdx.x;
    if (threadIdx.x < 5) cost[threadIdx.x] = 0;
    __syncthreads();
    for (int filter = 0; filter < 5; filter++)
        for (int col = threadIdx.x; col < width; col += blockDim.x)
            atomicAdd(&cost[filter], size_of(residue(image, filter, row, col, width, bpp)));
    __syncthreads();
    if (threadIdx.x == 0) {
        int best = 0;
        for (int filter = 1; filter < 5; filter++)
            if (cost[filter] < cost[best]) best = filter;
        chosen[row] = (uint8_t)best;
    }
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
