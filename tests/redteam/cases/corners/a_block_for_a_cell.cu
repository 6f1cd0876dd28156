#include <cuda_runtime.h>

// The circle of sixteen pixels about one, in its order.
__constant__ int ring_x[16] = {0, 1, 2, 3, 3, 3, 2, 1, 0, -1, -2, -3, -3, -3, -2, -1};
__constant__ int ring_y[16] = {-3, -3, -2, -1, 0, 1, 2, 3, 3, 3, 2, 1, 0, -1, -2, -3};

// Whether nine of a circle's sixteen follow one another.
__device__ bool nine(unsigned m) {
    m |= m << 16;
    m &= m >> 1;
    m &= m >> 2;
    m &= m >> 4;
    return m & m >> 1;
}

// How much a pixel is a corner: nine of its circle in a row are brighter, or darker, by more than the threshold.
__device__ int corner(const unsigned char* image, int r, int c, int h, int w, int threshold) {
    if (r < 3 || c < 3 || r + 3 >= h || c + 3 >= w) return 0;
    int here = image[(size_t)r * w + c], more = 0, less = 0;
    unsigned over = 0, under = 0;
    for (int k = 0; k < 16; ++k) {
        int d = image[(size_t)(r + ring_y[k]) * w + c + ring_x[k]] - here;
        if (d > threshold) {
            over |= 1u << k;
            more += d - threshold;
        } else if (-d > threshold) {
            under |= 1u << k;
            less += -d - threshold;
        }
    }
    return nine(over) ? more : nine(under) ? less : 0;
}

// Whether a corner is the best one of its neighbourhood, the first of equal ones.
__device__ bool peak(const int* score, int r, int c, int h, int w) {
    int s = score[(size_t)r * w + c];
    for (int y = max(r - 1, 0); y <= min(r + 1, h - 1); ++y) {
        for (int x = max(c - 1, 0); x <= min(c + 1, w - 1); ++x) {
            int other = score[(size_t)y * w + x];
            if (other > s || (other == s && (y < r || (y == r && x < c)))) return false;
        }
    }
    return true;
}

// Each pixel's score.
__global__ void scored(const unsigned char* image, int* score, int h, int w, int threshold) {
    size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
    if (i < (size_t)h * w) score[i] = corner(image, i / w, i % w, h, w, threshold);
}

// Where corners are, in any order.
__global__ void listed(const int* score, int* list, int* count, int h, int w) {
    size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
    if (i >= (size_t)h * w || score[i] == 0 || !peak(score, i / w, i % w, h, w)) return;
    list[atomicAdd(count, 1)] = (int)i;
}

// The best corner of each cell of 32 x 32, the first of equal ones; none is -1. A block has a cell; a corner's key is its
// score, and then how early it comes.
__global__ void cells(const int* score, int* best, int h, int w) {
    __shared__ unsigned long long part[8];
    int wide = (w + 31) / 32, t = threadIdx.x, c = blockIdx.x % wide * 32 + t % 32, row = blockIdx.x / wide * 32;
    unsigned long long key = 0;
    for (int r = row + t / 32; r < min(row + 32, h); r += 8) {
        unsigned s = c < w ? score[(size_t)r * w + c] : 0, at = r * w + c;
        if (s) key = max(key, (unsigned long long)s << 32 | ~at);
    }
    for (int k = 16; k; k /= 2) key = max(key, __shfl_down_sync(0xffffffffu, key, k));
    if (t % 32 == 0) part[t / 32] = key;
    __syncthreads();
    if (t) return;
    for (int k = 1; k < 8; ++k) key = max(key, part[k]);
    best[blockIdx.x] = key ? (int)~(unsigned)key : -1;
}

// FAST corners of a picture: each pixel's score, a list of those that are the best of their neighbourhood, and the best
// one of each cell.
extern "C" void corners(const unsigned char* image, int* score, int* list, int* count, int* best, int h, int w,
                        int threshold) {
    size_t n = (size_t)h * w;
    int blocks = (int)((n + 255) / 256), all = (w + 31) / 32 * ((h + 31) / 32);
    cudaMemsetAsync(list, 0xff, n * sizeof(int), 0);
    cudaMemsetAsync(count, 0, sizeof(int), 0);
    scored<<<blocks, 256>>>(image, score, h, w, threshold);
    listed<<<blocks, 256>>>(score, list, count, h, w);
    cells<<<all, 256>>>(score, best, h, w);
}
