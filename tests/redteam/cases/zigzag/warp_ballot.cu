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
    int b = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (b >= blocks) return;
    const short* c = coef + (size_t)b * 64;

    int low = quantise(c[order[lane]], q[order[lane]]);
    int high = quantise(c[order[lane + 32]], q[order[lane + 32]]);
    int total = 0;
    if (lane == 0) {
        int dc = low;
        if (b % per != 0) dc -= quantise(c[-64], q[0]);
        int s = category(dc);
        total = dccost[s] + s;
    }
    // bit 0 stands for what is before the first coefficient
    unsigned long long set = ((unsigned long long)__ballot_sync(0xffffffffu, high != 0) << 32)
                           | __ballot_sync(0xffffffffu, low != 0 || lane == 0);
    for (int half = 0; half < 2; ++half) {
        int k = lane + 32 * half;
        int v = half ? high : low;
        if (k == 0 || v == 0) continue;
        unsigned long long below = set & ((1ull << k) - 1);
        int run = k - 1 - (63 - __clzll(below));
        int s = category(v);
        total += (run >> 4) * cost[15 * 12] + cost[(run & 15) * 12 + s] + s;
    }
    if (lane == 0 && !(set >> 63)) total += cost[0];
    total = __reduce_add_sync(0xffffffffu, total);
    if (lane == 0) bits[b] = total;
}
