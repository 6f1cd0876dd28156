// The two check blocks of an array of disks: P is the exclusive or of all data, Q the sum of g^i times the data of
// disk i over GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 and g = x. One thread for each byte; disks of even and odd number apart.
#include <cstdint>

__device__ __forceinline__ unsigned twice(unsigned v) {
    return ((v << 1) ^ ((v >> 7) * 0x1du)) & 0xffu;
}

__device__ __forceinline__ unsigned four_times(unsigned v) {
    unsigned high = v >> 6;
    return ((v << 2) ^ (high & 1u) * 0x1du ^ (high >> 1) * 0x3au) & 0xffu;
}

__global__ void erasure(const uint8_t* __restrict__ data, uint8_t* __restrict__ p, uint8_t* __restrict__ q, int disks,
                        int len) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= len) return;
    unsigned even = 0, odd = 0, sum = 0;
    int i = disks - 1;
    if (!(i & 1)) {
        unsigned d = data[(size_t)i * len + j];
        even = d;
        sum = d;
        --i;
    }
    for (; i > 0; i -= 2) {
        unsigned d = data[(size_t)i * len + j];
        unsigned e = data[(size_t)(i - 1) * len + j];
        sum ^= d ^ e;
        odd = four_times(odd) ^ d;
        even = four_times(even) ^ e;
    }
    p[j] = (uint8_t)sum;
    q[j] = (uint8_t)(even ^ twice(odd));
}
