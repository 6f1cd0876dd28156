// The two check blocks of an array of disks: P is the exclusive or of all data, Q the sum of g^i times the data of
// disk i over GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 and g = x. One thread for each four bytes.
#include <cstdint>

__device__ __forceinline__ unsigned twice4(unsigned v) {
    unsigned high = (v >> 7) & 0x01010101u;
    return ((v & 0x7f7f7f7fu) << 1) ^ (high * 0x1du);
}

__global__ void erasure(const uint8_t* __restrict__ data, uint8_t* __restrict__ p, uint8_t* __restrict__ q, int disks,
                        int len) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first >= len) return;
    int bytes = min(4, len - first);
    unsigned sum = 0, weighted = 0;
    if ((len & 3) == 0) {
        for (int i = disks - 1; i >= 0; --i) {
            unsigned d = *reinterpret_cast<const unsigned*>(data + (size_t)i * len + first);
            sum ^= d;
            weighted = twice4(weighted) ^ d;
        }
        *reinterpret_cast<unsigned*>(p + first) = sum;
        *reinterpret_cast<unsigned*>(q + first) = weighted;
        return;
    }
    for (int i = disks - 1; i >= 0; --i) {
        const uint8_t* from = data + (size_t)i * len + first;
        unsigned d = 0;
        for (int b = 0; b < bytes; ++b) d |= (unsigned)from[b] << (8 * b);
        sum ^= d;
        weighted = twice4(weighted) ^ d;
    }
    for (int b = 0; b < bytes; ++b) {
        p[first + b] = (uint8_t)(sum >> (8 * b));
        q[first + b] = (uint8_t)(weighted >> (8 * b));
    }
}
