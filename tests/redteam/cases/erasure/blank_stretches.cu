// The two check blocks of an array of disks: P is the exclusive or of all data, Q the sum of g^i times the data of
// disk i over GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 and g = x. One thread for each byte; a warp passes over a disk that is blank for it.
#include <cstdint>

__device__ __forceinline__ unsigned twice(unsigned v) {
    return ((v << 1) ^ ((v >> 7) * 0x1du)) & 0xffu;
}

__global__ void erasure(const uint8_t* __restrict__ data, uint8_t* __restrict__ p, uint8_t* __restrict__ q, int disks,
                        int len) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = j < len;
    unsigned sum = 0, weighted = 0;
    for (int i = disks - 1; i >= 0; --i) {
        unsigned d = in ? data[(size_t)i * len + j] : 0u;
        if (!__any_sync(0xffffffffu, d != 0)) continue;
        sum ^= d;
        weighted = twice(weighted) ^ d;
    }
    if (in) {
        p[j] = (uint8_t)sum;
        q[j] = (uint8_t)weighted;
    }
}
