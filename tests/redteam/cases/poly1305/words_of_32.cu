// Poly1305 tags of n messages of len bytes, each with a one-time key of its own. A thread has a message.
// The number is held in full words, so that nothing is cut into limbs: 16 products a block, and r's clamped low
// bits make the reduction a shift.

typedef unsigned long long u64;

__device__ unsigned load4(const unsigned char* p)
{
    return p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16 | (unsigned)p[3] << 24;
}

// a + b + carry; the new carry is set where the sum has wrapped around.
__device__ unsigned add(unsigned a, unsigned b, unsigned& carry)
{
    unsigned s = a + b + carry;
    carry = s < a;
    return s;
}

__global__ void poly1305(const unsigned char* text, const unsigned char* key, unsigned char* tag, int len, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* m = text + (size_t)i * len;
    const unsigned char* k = key + (size_t)i * 32;
    unsigned r0 = load4(k) & 0x0fffffff;
    unsigned r1 = load4(k + 4) & 0x0ffffffc;
    unsigned r2 = load4(k + 8) & 0x0ffffffc;
    unsigned r3 = load4(k + 12) & 0x0ffffffc;
    unsigned s1 = r1 / 4 * 5, s2 = r2 / 4 * 5, s3 = r3 / 4 * 5;
    unsigned h0 = 0, h1 = 0, h2 = 0, h3 = 0, h4 = 0;

    for (int at = 0; at < len; at += 16) {
        unsigned b[5] = {0, 0, 0, 0, 0};
        int have = len - at < 16 ? len - at : 16;
        if (have == 16) {
#pragma unroll
            for (int j = 0; j < 4; ++j) b[j] = load4(m + at + 4 * j);
            b[4] = 1;
        } else {
#pragma unroll
            for (int j = 0; j < 16; ++j) b[j / 4] |= (j < have ? m[at + j] : j == have) << (8 * (j % 4));
        }
        unsigned carry = 0;
        h0 = add(h0, b[0], carry);
        h1 = add(h1, b[1], carry);
        h2 = add(h2, b[2], carry);
        h3 = add(h3, b[3], carry);
        h4 += b[4] + carry;

        u64 d0 = (u64)h0 * r0 + (u64)h1 * s3 + (u64)h2 * s2 + (u64)h3 * s1;
        u64 d1 = (u64)h0 * r1 + (u64)h1 * r0 + (u64)h2 * s3 + (u64)h3 * s2 + (u64)h4 * s1;
        u64 d2 = (u64)h0 * r2 + (u64)h1 * r1 + (u64)h2 * r0 + (u64)h3 * s3 + (u64)h4 * s2;
        u64 d3 = (u64)h0 * r3 + (u64)h1 * r2 + (u64)h2 * r1 + (u64)h3 * r0 + (u64)h4 * s3;
        unsigned d4 = h4 * r0;
        d1 += d0 >> 32;
        d2 += d1 >> 32;
        d3 += d2 >> 32;
        u64 high = d4 + (d3 >> 32);
        u64 fold = (high >> 2) * 5;
        u64 x = (u64)(unsigned)d0 + (unsigned)fold;
        h0 = (unsigned)x;
        x = (x >> 32) + (unsigned)d1 + (fold >> 32);
        h1 = (unsigned)x;
        x = (x >> 32) + (unsigned)d2;
        h2 = (unsigned)x;
        x = (x >> 32) + (unsigned)d3;
        h3 = (unsigned)x;
        h4 = (unsigned)(high & 3) + (unsigned)(x >> 32);
    }

    u64 x = (u64)h0 + (h4 >> 2) * 5;
    h0 = (unsigned)x;
    x = (x >> 32) + h1; h1 = (unsigned)x;
    x = (x >> 32) + h2; h2 = (unsigned)x;
    x = (x >> 32) + h3; h3 = (unsigned)x;
    h4 = (h4 & 3) + (unsigned)(x >> 32);
    x = (u64)h0 + 5;
    unsigned g0 = (unsigned)x;
    x = (x >> 32) + h1; unsigned g1 = (unsigned)x;
    x = (x >> 32) + h2; unsigned g2 = (unsigned)x;
    x = (x >> 32) + h3; unsigned g3 = (unsigned)x;
    if (h4 + (unsigned)(x >> 32) >= 4) {
        h0 = g0; h1 = g1; h2 = g2; h3 = g3;
    }
    unsigned w[4] = {h0, h1, h2, h3};
    u64 sum = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        sum += (u64)w[j] + load4(k + 16 + 4 * j);
#pragma unroll
        for (int b = 0; b < 4; ++b) tag[(size_t)i * 16 + 4 * j + b] = (unsigned char)(sum >> (8 * b));
        sum >>= 32;
    }
}
