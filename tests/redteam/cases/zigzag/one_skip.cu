#include <cuda_runtime.h>
#include <cstdint>

// Bits that an 8x8 block of transform coefficients takes after quantising and run-length coding.
__constant__ unsigned char order[64] = {
     0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

__device__ int quantise(int c, int q)
{
    int m = (abs(c) + q / 2) / q;
    return c < 0 ? -m : m;
}

__device__ int category(int v)
{
    return 32 - __clz(abs(v));
}

__global__ void zigzag(const short* coef, const int* q, const uint8_t* cost,
                       const uint8_t* dccost, int* bits, int blocks, int per)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks) return;
    const short* c = coef + (size_t)b * 64;

    int dc = quantise(c[0], q[0]);
    if (b % per != 0) dc -= quantise(c[-64], q[0]);
    int s = category(dc);
    int total = dccost[s] + s;

    int run = 0;
    for (int k = 1; k < 64; ++k) {
        int v = quantise(c[order[k]], q[order[k]]);
        if (v == 0) {
            ++run;
            continue;
        }
        if (run > 15) total += cost[15 * 12];
        run &= 15;
        s = category(v);
        total += cost[run * 12 + s] + s;
        run = 0;
    }
    if (run > 0) total += cost[0];
    bits[b] = total;
}
