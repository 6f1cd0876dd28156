// The two check blocks of an array of disks: P is the exclusive or of all data, Q the sum of g^i times the data of
// disk i over GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 and g = x. One thread for each byte, by logarithms.
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
    }
    __syncthreads();
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= len) return;
    unsigned sum = 0, weighted = 0;
    unsigned at = 0;   // i modulo 255
    for (int i = 0; i < disks; ++i) {
        unsigned d = data[(size_t)i * len + j];
        if (d != 0) {
            unsigned s = logarithm[d] + at;
            s = (s & 255u) + (s >> 8);
            sum ^= d;
            weighted ^= power[s];
        }
        at = at == 254 ? 0 : at + 1;
    }
    p[j] = (uint8_t)sum;
    q[j] = (uint8_t)weighted;
}
