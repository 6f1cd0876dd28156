#include <cstdint>

__device__ uint64_t word(const uint8_t* p) {
    uint64_t v = 0;
    for (int i = 0; i < 8; ++i) v = v << 8 | p[i];
    return v;
}

__device__ uint64_t part(const uint8_t* p, int have) {
    uint64_t v = 0;
    for (int i = 0; i < 8; ++i) v = v << 8 | (i < have ? p[i] : 0);
    return v;
}

// product in GF(2^128), bits in the order of GCM: the first bit is the constant term
__device__ void multiply(uint64_t& a, uint64_t& b, uint64_t h, uint64_t l) {
    uint64_t zh = 0, zl = 0;
    for (int i = 0; i < 128; ++i) {
        uint64_t bit = (i < 64 ? a >> (63 - i) : b >> (127 - i)) & 1;
        zh ^= h & (0 - bit);
        zl ^= l & (0 - bit);
        uint64_t last = l & 1;
        l = l >> 1 | h << 63;
        h = h >> 1 ^ (0xe100000000000000ull & (0 - last));
    }
    a = zh;
    b = zl;
}

__global__ void ghash(const uint8_t* key, const uint8_t* data, const int* length, uint64_t* tag,
                      int messages, int blocks) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= messages) return;
    uint64_t h = word(key + (size_t)m * 16), l = word(key + (size_t)m * 16 + 8);
    const uint8_t* text = data + (size_t)m * blocks * 16;
    int bytes = max(0, min(length[m], blocks * 16));
    uint64_t a = 0, b = 0;
    for (int at = 0; at < bytes; at += 16) {
        a ^= part(text + at, bytes - at);
        b ^= part(text + at + 8, bytes - at - 8);
        multiply(a, b, h, l);
    }
    b ^= (uint64_t)bytes * 8;
    multiply(a, b, h, l);
    tag[(size_t)m * 2] = a;
    tag[(size_t)m * 2 + 1] = b;
}
