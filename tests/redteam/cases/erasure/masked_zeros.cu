// The two check blocks of an array of disks: P is the exclusive or of all data, Q the sum of g^i times the data of
// disk i over GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 and g = x. One thread for each four bytes, by logarithms; zeros have none and are masked.
#include <cstdint>

__global__ void erasure(const uint8_t* __restrict__ data, uint8_t* __restrict__ p, uint8_t* __restrict__ q, int disks,
                        int len) {
    __shared__ uint8_t power[256];
    __shared__ uint8_t logarithm[256];
    for (int e = threadIdx.x; e < 256; e += blockDim.x) {
        unsigned v = 1;
        for (int k = 0; k < e; ++k) v = ((v << 1) ^ ((v >> 7) * 0x1du)) & 0xffu;
        power[e] = (uint8_t)v;
        if (e < 255) logarithm[v] = (uint8_t)e;
        if (e == 0) logarithm[0] = 0;
    }
    __syncthreads();
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first >= len) return;
    int bytes = min(4, len - first);
    unsigned sum = 0, weighted = 0;
    unsigned at = 0;   // i modulo 255
    for (int i = 0; i < disks; ++i) {
        const uint8_t* from = data + (size_t)i * len + first;
        unsigned d = 0;
        for (int b = 0; b < bytes; ++b) d |= (unsigned)from[b] << (8 * b);
        unsigned zeros = ((d - 0x01010101u) & ~d & 0x80808080u) >> 7;   // a one for each byte that is zero
        unsigned product = 0;
        for (int b = 0; b < 4; ++b) {
            unsigned s = logarithm[(d >> (8 * b)) & 255u] + at;
            s = (s & 255u) + (s >> 8);
            product |= (unsigned)power[s] << (8 * b);
        }
        sum ^= d;
        weighted ^= product & ~(zeros * 255u);
        at = at == 254 ? 0 : at + 1;
    }
    for (int b = 0; b < bytes; ++b) {
        p[first + b] = (uint8_t)(sum >> (8 * b));
        q[first + b] = (uint8_t)(weighted >> (8 * b));
    }
}
