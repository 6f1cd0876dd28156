// The two check blocks of an array of disks: P is the exclusive or of all data, Q the sum of g^i times the data of
// disk i over GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 and g = x. One thread for each byte.
#include <cstdint>

__device__ __forceinline__ unsigned twice(unsigned v) {
    unsigned carry = (v & 0x80u) ? 0x1du : 0u;
    return ((v << 1) & 0xffu) ^ carry;
}

__global__ void erasure(const uint8_t* __restrict__ data, uint8_t* __restrict__ p, uint8_t* __restrict__ q, int disks,
                        int len) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= len) return;
    unsigned sum = 0, weighted = 0;
    for (int i = disks - 1; i >= 0; --i) {
        unsigned d = data[(size_t)i * len + j];
        sum ^= d;
        weighted = twice(weighted) ^ d;
    }
    p[j] = (uint8_t)sum;
    q[j] = (uint8_t)weighted;
}
