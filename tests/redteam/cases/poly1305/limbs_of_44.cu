// Poly1305 tags of n messages of len bytes, each with a one-time key of its own. A thread has a message.
// The number is held in three limbs of 44, 44 and 42 bits: nine wide products a block in place of 25.

typedef unsigned long long u64;
typedef unsigned __int128 u128;

__device__ u64 load8(const unsigned char* p)
{
    u64 x = 0;
#pragma unroll
    for (int j = 7; j >= 0; --j) x = x << 8 | p[j];
    return x;
}

__global__ void poly1305(const unsigned char* text, const unsigned char* key, unsigned char* tag, int len, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* m = text + (size_t)i * len;
    const unsigned char* k = key + (size_t)i * 32;
    const u64 m44 = 0xfffffffffffull, m42 = 0x3ffffffffffull;

    u64 t0 = load8(k) & 0x0ffffffc0fffffffull;
    u64 t1 = load8(k + 8) & 0x0ffffffc0ffffffcull;
    u64 r0 = t0 & m44;
    u64 r1 = (t0 >> 44 | t1 << 20) & m44;
    u64 r2 = t1 >> 24;
    // 2^132 is 20 modulo the prime.
    u64 s1 = r1 * 20, s2 = r2 * 20;
    u64 h0 = 0, h1 = 0, h2 = 0;

    for (int at = 0; at < len; at += 16) {
        u64 top = 1;
        if (len - at >= 16) {
            t0 = load8(m + at);
            t1 = load8(m + at + 8);
        } else {
            int have = len - at;
            t0 = t1 = 0;
            for (int j = 0; j < have; ++j) {
                if (j < 8) t0 |= (u64)m[at + j] << (8 * j);
                else t1 |= (u64)m[at + j] << (8 * j - 64);
            }
            if (have < 8) t0 |= 1ull << (8 * have);
            else t1 |= 1ull << (8 * have - 64);
            top = 0;
        }
        h0 += t0 & m44;
        h1 += (t0 >> 44 | t1 << 20) & m44;
        h2 += t1 >> 24 | top << 40;
        u128 d0 = (u128)h0 * r0 + (u128)h1 * s2 + (u128)h2 * s1;
        u128 d1 = (u128)h0 * r1 + (u128)h1 * r0 + (u128)h2 * s2;
        u128 d2 = (u128)h0 * r2 + (u128)h1 * r1 + (u128)h2 * r0;
        d1 += (u64)(d0 >> 44); h0 = (u64)d0 & m44;
        d2 += (u64)(d1 >> 44); h1 = (u64)d1 & m44;
        h2 = (u64)d2 & m42;
        h0 += (u64)(d2 >> 42) * 5;
        h1 += h0 >> 44; h0 &= m44;
    }

    h2 += h1 >> 44; h1 &= m44;
    h0 += (h2 >> 42) * 5; h2 &= m42;
    h1 += h0 >> 44; h0 &= m44;
    h2 += h1 >> 44; h1 &= m44;
    h0 += (h2 >> 42) * 5; h2 &= m42;
    h1 += h0 >> 44; h0 &= m44;
    u64 g0 = h0 + 5;
    u64 g1 = h1 + (g0 >> 44);
    u64 g2 = h2 + (g1 >> 44);
    if (g2 >> 42) {
        h0 = g0 & m44; h1 = g1 & m44; h2 = g2 & m42;
    }
    u64 lo = h0 | h1 << 44;
    u64 hi = h1 >> 20 | h2 << 24;
    u64 p0 = load8(k + 16), p1 = load8(k + 24);
    lo += p0;
    hi += p1 + (lo < p0);
    unsigned char* out = tag + (size_t)i * 16;
#pragma unroll
    for (int b = 0; b < 8; ++b) {
        out[b] = (unsigned char)(lo >> (8 * b));
        out[8 + b] = (unsigned char)(hi >> (8 * b));
    }
}
