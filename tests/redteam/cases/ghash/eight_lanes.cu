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
    int m = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    unsigned mine = 0xffu << (threadIdx.x & 24);
    if (m >= messages) return;
    uint64_t h = word(key + (size_t)m * 16), l = word(key + (size_t)m * 16 + 8);
    const uint8_t* text = data + (size_t)m * blocks * 16;
    int bytes = max(0, min(length[m], blocks * 16));
    // block i of n, the lengths being the last one, is due n-i factors of the key
    int n = (bytes + 15) / 16 + 1;
    uint64_t ph = h, pl = l, eh, el;
    uint64_t xh = h, xl = l;
    for (int i = 1; i < 8; ++i) {
        if (i == lane) ph = xh, pl = xl;
        multiply(xh, xl, h, l);
    }
    if (lane == 0) ph = xh, pl = xl;   // lane 0 stands for eight factors
    eh = xh, el = xl;
    uint64_t a = 0, b = 0;
    int first = n - lane;
    first -= lane == 0 ? 8 : 0;
    first = first >= 0 ? first % 8 : first;
    for (int i = first; i < n; i += 8) {
        if (i < 0) continue;
        multiply(a, b, eh, el);
        if (i == n - 1) {
            b ^= (uint64_t)bytes * 8;
        } else {
            a ^= part(text + i * 16, bytes - i * 16);
            b ^= part(text + i * 16 + 8, bytes - i * 16 - 8);
        }
    }
    multiply(a, b, ph, pl);
    for (int d = 4; d > 0; d >>= 1) {
        a ^= __shfl_xor_sync(mine, a, d);
        b ^= __shfl_xor_sync(mine, b, d);
    }
    if (lane) return;
    tag[(size_t)m * 2] = a;
    tag[(size_t)m * 2 + 1] = b;
}
