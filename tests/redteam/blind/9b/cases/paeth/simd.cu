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

__device__ void five(const uint8_t* image, int row, int col, int width, int bpp, unsigned* r)
{
    const uint8_t* here = image + (size_t)row * width + col;
    int x = here[0];
    int left = col >= bpp ? here[-bpp] : 0;
    int up = row > 0 ? here[-width] : 0;
    int corner = row > 0 && col >= bpp ? here[-width - bpp] : 0;
    r[0] = size_of((uint8_t)x);
    r[1] = size_of((uint8_t)(x - left));
    r[2] = size_of((uint8_t)(x - up));
    r[3] = size_of((uint8_t)(x - ((left + up) >> 1)));
    r[4] = size_of((uint8_t)(x - paeth_of(left, up, corner)));
}

// sum over the 128 threads of the block; all threads get it
__device__ unsigned block_sum(unsigned v, unsigned* part)
{
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    return part[0] + part[1] + part[2] + part[3];
}

// four |signed residues| at once; |-128| stays 128 as an unsigned byte
__device__ unsigned four(unsigned a, unsigned b) { return __vsadu4(__vabs4(__vsub4(a, b)), 0); }

__global__ void choose(const uint8_t* image, uint8_t* chosen, int width, int bpp)
{
    __shared__ unsigned part[4];
    int row = blockIdx.x;
    unsigned sum[5] = {0, 0, 0, 0, 0}, r[5];
    bool words = width % 4 == 0 && bpp % 4 == 0 && ((size_t)image & 3) == 0;
    if (words) {
        const unsigned* here = (const unsigned*)(image + (size_t)row * width);
        const unsigned* above = here - width / 4;
        for (int w = threadIdx.x; w < width / 4; w += 128) {
            unsigned x = here[w];
            unsigned left = 4 * w >= bpp ? here[w - bpp / 4] : 0;
            unsigned up = row > 0 ? above[w] : 0;
            unsigned corner = row > 0 && 4 * w >= bpp ? above[w - bpp / 4] : 0;
            sum[0] += four(x, 0);
            sum[1] += four(x, left);
            sum[2] += four(x, up);
            sum[3] += four(x, __vhaddu4(left, up));
            unsigned guess = 0;
            for (int k = 0; k < 32; k += 8)
                guess |= (unsigned)paeth_of(left >> k & 255, up >> k & 255, corner >> k & 255) << k;
            sum[4] += four(x, guess);
        }
    } else {
        for (int col = threadIdx.x; col < width; col += 128) {
            five(image, row, col, width, bpp, r);
            for (int f = 0; f < 5; f++) sum[f] += r[f];
        }
    }
    unsigned least = 0xffffffffu;
    int best = 0;
    for (int f = 0; f < 5; f++) {
        unsigned total = block_sum(sum[f], part);
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
