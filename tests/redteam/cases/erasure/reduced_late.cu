// The two check blocks of an array of disks: P is the exclusive or of all data, Q the sum of g^i times the data of
// disk i over GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 and g = x. One thread for each byte; the sum is reduced every 16 disks.
#include <cstdint>

__device__ __forceinline__ unsigned reduced(unsigned v) {
    for (int b = 31; b >= 8; --b)
        if ((v >> b) & 1u) v ^= 0x11du << (b - 8);
    return v;
}

__global__ void erasure(const uint8_t* __restrict__ data, uint8_t* __restrict__ p, uint8_t* __restrict__ q, int disks,
                        int len) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= len) return;
    unsigned sum = 0, weighted = 0;
    for (int i = disks - 1; i >= 0; --i) {
        unsigned d = data[(size_t)i * len + j];
        sum ^= d;
        weighted = (weighted << 1) ^ d;
        if ((i & 15) == 0) weighted = reduced(weighted);
    }
    p[j] = (uint8_t)sum;
    q[j] = (uint8_t)weighted;
}
