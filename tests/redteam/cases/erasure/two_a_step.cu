// The two check blocks of an array of disks: P is the exclusive or of all data, Q the sum of g^i times the data of
// disk i over GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 and g = x. One thread for each byte; two disks a step.
#include <cstdint>

__device__ __forceinline__ unsigned twice(unsigned v) {
    return ((v << 1) ^ ((v >> 7) * 0x1du)) & 0xffu;
}

__device__ __forceinline__ unsigned four_times(unsigned v) {
    return ((v << 2) ^ ((v >> 6) * 0x1du)) & 0xffu;
}

__global__ void erasure(const uint8_t* __restrict__ data, uint8_t* __restrict__ p, uint8_t* __restrict__ q, int disks,
                        int len) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= len) return;
    unsigned sum = 0, weighted = 0;
    int i = disks - 1;
    if (!(i & 1)) {
        unsigned d = data[(size_t)i * len + j];
        sum = d;
        weighted = d;
        --i;
    }
    for (; i > 0; i -= 2) {
        unsigned d = data[(size_t)i * len + j];
        unsigned e = data[(size_t)(i - 1) * len + j];
        sum ^= d ^ e;
        weighted = four_times(weighted) ^ twice(d) ^ e;
    }
    p[j] = (uint8_t)sum;
    q[j] = (uint8_t)weighted;
}
