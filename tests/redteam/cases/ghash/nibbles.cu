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

__device__ void shifted(uint64_t& h, uint64_t& l) {
    uint64_t last = l & 1;
    l = l >> 1 | h << 63;
    h = h >> 1 ^ (0xe100000000000000ull & (0 - last));
}

struct Table {
    uint64_t h[16], l[16];
    __device__ void make(uint64_t a, uint64_t b) {
        h[0] = l[0] = 0;
        for (int i = 8; i > 0; i >>= 1) {
            h[i] = a;
            l[i] = b;
            shifted(a, b);
        }
        for (int i = 2; i < 16; i <<= 1)
            for (int j = 1; j < i; ++j) {
                h[i + j] = h[i] ^ h[j];
                l[i + j] = l[i] ^ l[j];
            }
    }
};

// what the last four bits become when they are shifted out
__constant__ uint16_t folded[16] = {0x0000, 0x1c20, 0x3840, 0x2460, 0x7080, 0x6ca0, 0x48c0, 0x54e0,
                                    0xe100, 0xfd20, 0xd940, 0xc560, 0x9180, 0x8da0, 0xa9c0, 0xb5e0};

__device__ void multiply(uint64_t& a, uint64_t& b, const Table& t) {
    uint64_t zh = 0, zl = 0;
    for (int i = 0; i < 32; ++i) {
        unsigned low = zl & 15;
        zl = zl >> 4 | zh << 60;
        zh = zh >> 4 ^ (uint64_t)folded[low] << 48;
        unsigned digit = (i < 16 ? b >> (4 * i) : a >> (4 * i - 64)) & 15;
        zh ^= t.h[digit];
        zl ^= t.l[digit];
    }
    a = zh;
    b = zl;
}

__global__ void ghash(const uint8_t* key, const uint8_t* data, const int* length, uint64_t* tag,
                      int messages, int blocks) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= messages) return;
    uint64_t h = word(key + (size_t)m * 16), l = word(key + (size_t)m * 16 + 8);
    Table table;
    table.make(h, l);
    const uint8_t* text = data + (size_t)m * blocks * 16;
    int bytes = max(0, min(length[m], blocks * 16));
    uint64_t a = 0, b = 0;
    for (int at = 0; at < bytes; at += 16) {
        a ^= part(text + at, bytes - at);
        b ^= part(text + at + 8, bytes - at - 8);
        multiply(a, b, table);
    }
    b ^= (uint64_t)bytes * 8;
    multiply(a, b, table);
    tag[(size_t)m * 2] = a;
    tag[(size_t)m * 2 + 1] = b;
}
