// Poly1305 tags of n messages of len bytes, each with a one-time key of its own. A thread has a message.
// The number is held in five limbs of 26 bits.

__device__ unsigned load4(const unsigned char* p)
{
    return p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16 | (unsigned)p[3] << 24;
}

__global__ void poly1305(const unsigned char* text, const unsigned char* key, unsigned char* tag, int len, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* m = text + (size_t)i * len;
    const unsigned char* k = key + (size_t)i * 32;
    const unsigned mask = 0x3ffffff;

    unsigned r0 = load4(k) & 0x3ffffff;
    unsigned r1 = (load4(k + 3) >> 2) & 0x3ffff03;
    unsigned r2 = (load4(k + 6) >> 4) & 0x3ffc0ff;
    unsigned r3 = (load4(k + 9) >> 6) & 0x3f03fff;
    unsigned r4 = (load4(k + 12) >> 8) & 0x00fffff;
    unsigned h0 = 0, h1 = 0, h2 = 0, h3 = 0, h4 = 0;
    typedef unsigned long long u64;

    for (int at = 0; at < len; at += 16) {
        unsigned char b[17];
        int have = len - at < 16 ? len - at : 16;
        for (int j = 0; j < 17; ++j) b[j] = j < have ? m[at + j] : j == have;
        h0 += load4(b) & mask;
        h1 += (load4(b + 3) >> 2) & mask;
        h2 += (load4(b + 6) >> 4) & mask;
        h3 += (load4(b + 9) >> 6) & mask;
        h4 += (load4(b + 12) >> 8) | (unsigned)b[16] << 24;

        u64 d0 = (u64)h0 * r0 + (u64)h1 * (5 * r4) + (u64)h2 * (5 * r3) + (u64)h3 * (5 * r2) + (u64)h4 * (5 * r1);
        u64 d1 = (u64)h0 * r1 + (u64)h1 * r0 + (u64)h2 * (5 * r4) + (u64)h3 * (5 * r3) + (u64)h4 * (5 * r2);
        u64 d2 = (u64)h0 * r2 + (u64)h1 * r1 + (u64)h2 * r0 + (u64)h3 * (5 * r4) + (u64)h4 * (5 * r3);
        u64 d3 = (u64)h0 * r3 + (u64)h1 * r2 + (u64)h2 * r1 + (u64)h3 * r0 + (u64)h4 * (5 * r4);
        u64 d4 = (u64)h0 * r4 + (u64)h1 * r3 + (u64)h2 * r2 + (u64)h3 * r1 + (u64)h4 * r0;
        d1 += d0 >> 26; h0 = (unsigned)d0 & mask;
        d2 += d1 >> 26; h1 = (unsigned)d1 & mask;
        d3 += d2 >> 26; h2 = (unsigned)d2 & mask;
        d4 += d3 >> 26; h3 = (unsigned)d3 & mask;
        h4 = (unsigned)d4 & mask;
        u64 top = h0 + (d4 >> 26) * 5;
        h0 = (unsigned)top & mask;
        h1 += (unsigned)(top >> 26);
    }

    // Carry in full, then take the modulus off once if it still fits.
    h2 += h1 >> 26; h1 &= mask;
    h3 += h2 >> 26; h2 &= mask;
    h4 += h3 >> 26; h3 &= mask;
    h0 += (h4 >> 26) * 5; h4 &= mask;
    h1 += h0 >> 26; h0 &= mask;
    unsigned g0 = h0 + 5;
    unsigned g1 = h1 + (g0 >> 26);
    unsigned g2 = h2 + (g1 >> 26);
    unsigned g3 = h3 + (g2 >> 26);
    unsigned g4 = h4 + (g3 >> 26);
    if (g4 >> 26) {
        h0 = g0 & mask; h1 = g1 & mask; h2 = g2 & mask; h3 = g3 & mask; h4 = g4 & mask;
    }
    unsigned w[4] = {h0 | h1 << 26, h1 >> 6 | h2 << 20, h2 >> 12 | h3 << 14, h3 >> 18 | h4 << 8};
    u64 carry = 0;
    for (int j = 0; j < 4; ++j) {
        carry += (u64)w[j] + load4(k + 16 + 4 * j);
        for (int b = 0; b < 4; ++b) tag[(size_t)i * 16 + 4 * j + b] = (unsigned char)(carry >> (8 * b));
        carry >>= 32;
    }
}
