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

// product of polynomials over GF(2): every fourth bit, so that sums do not meet
__device__ uint64_t carryless(unsigned x, unsigned y) {
    uint64_t r = 0;
    for (int i = 0; i < 4; ++i) {
        uint64_t s = 0;
        for (int j = 0; j < 4; ++j)
            s ^= (uint64_t)(x & 0x11111111u << j) * (y & 0x11111111u << ((i - j) & 3));
        r |= s & 0x1111111111111111ull << i;
    }
    return r;
}

__device__ void carryless(uint64_t x, uint64_t y, uint64_t& high, uint64_t& low) {
    unsigned x0 = (unsigned)x, x1 = (unsigned)(x >> 32), y0 = (unsigned)y, y1 = (unsigned)(y >> 32);
    uint64_t p = carryless(x0, y0), q = carryless(x1, y1), m = carryless(x0 ^ x1, y0 ^ y1) ^ p ^ q;
    low = p ^ m << 32;
    high = q ^ m >> 32;
}

__device__ void multiply(uint64_t& a, uint64_t& b, uint64_t h, uint64_t l) {
    uint64_t a0 = __brevll(a), a1 = __brevll(b), h0 = __brevll(h), h1 = __brevll(l);
    uint64_t p1, p0, q1, q0, m1, m0;
    carryless(a0, h0, p1, p0);
    carryless(a1, h1, q1, q0);
    carryless(a0 ^ a1, h0 ^ h1, m1, m0);
    m0 ^= p0 ^ q0;
    m1 ^= p1 ^ q1;
    uint64_t r0 = p0, r1 = p1 ^ m0, r2 = q0 ^ m1, r3 = q1;
    // x^128 = x^7 + x^2 + x + 1
    r1 ^= r3 ^ r3 << 1 ^ r3 << 2 ^ r3 << 7;
    r2 ^= r3 >> 63 ^ r3 >> 62 ^ r3 >> 57;
    r0 ^= r2 ^ r2 << 1 ^ r2 << 2 ^ r2 << 7;
    r1 ^= r2 >> 63 ^ r2 >> 62 ^ r2 >> 57;
    a = __brevll(r0);
    b = __brevll(r1);
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
