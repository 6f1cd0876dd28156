// Poly1305 tags of n messages of len bytes, each with a one-time key of its own. Eight lanes have a message.
// Lane j takes blocks j, j+8, ... with r^8 in Horner's scheme; the parts are brought together with r^8 ... r^1.
// The blocks are counted so that the last one falls to the last lane: the first lanes begin with none.

typedef unsigned long long u64;
typedef unsigned __int128 u128;

#define LANES 8
#define M44 0xfffffffffffull
#define M42 0x3ffffffffffull

struct Wide { u64 a, b, c; };

__device__ u64 load8(const unsigned char* p)
{
    u64 x = 0;
#pragma unroll
    for (int j = 7; j >= 0; --j) x = x << 8 | p[j];
    return x;
}

__device__ Wide product(Wide h, Wide r)
{
    u64 s1 = r.b * 20, s2 = r.c * 20;
    u128 d0 = (u128)h.a * r.a + (u128)h.b * s2 + (u128)h.c * s1;
    u128 d1 = (u128)h.a * r.b + (u128)h.b * r.a + (u128)h.c * s2;
    u128 d2 = (u128)h.a * r.c + (u128)h.b * r.b + (u128)h.c * r.a;
    Wide o;
    d1 += (u64)(d0 >> 44); o.a = (u64)d0 & M44;
    d2 += (u64)(d1 >> 44); o.b = (u64)d1 & M44;
    o.c = (u64)d2 & M42;
    o.a += (u64)(d2 >> 42) * 5;
    o.b += o.a >> 44; o.a &= M44;
    return o;
}

__global__ void poly1305(const unsigned char* text, const unsigned char* key, unsigned char* tag, int len, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    bool mine = i < n;
    int row = mine ? i : n - 1;
    const unsigned char* m = text + (size_t)row * len;
    const unsigned char* k = key + (size_t)row * 32;

    u64 t0 = load8(k) & 0x0ffffffc0fffffffull;
    u64 t1 = load8(k + 8) & 0x0ffffffc0ffffffcull;
    Wide r = {t0 & M44, (t0 >> 44 | t1 << 20) & M44, t1 >> 24};
    // The power that this lane's part is multiplied with at the end: r^(8-lane).
    Wide power = r, all = r;
    for (int j = 1; j < LANES; ++j) {
        all = product(all, r);
        if (j < LANES - lane) power = all;
    }

    int blocks = (len + 15) / 16;
    int turns = (blocks + LANES - 1) / LANES;
    int skipped = turns * LANES - blocks;
    Wide h = {0, 0, 0};
    for (int t = 0; t < turns; ++t) {
        if (t) h = product(h, all);
        int at = t * LANES + lane - skipped;
        if (at < 0) continue;
        u64 top = 1;
        int have = len - at * 16;
        const unsigned char* p = m + (size_t)at * 16;
        if (have >= 16) {
            t0 = load8(p);
            t1 = load8(p + 8);
        } else {
            t0 = t1 = 0;
            for (int j = 0; j < have; ++j) {
                if (j < 8) t0 |= (u64)p[j] << (8 * j);
                else t1 |= (u64)p[j] << (8 * j - 64);
            }
            if (have < 8) t0 |= 1ull << (8 * have);
            else t1 |= 1ull << (8 * have - 64);
            top = 0;
        }
        h.a += t0 & M44;
        h.b += (t0 >> 44 | t1 << 20) & M44;
        h.c += t1 >> 24 | top << 40;
    }
    h = product(h, power);
    for (int step = LANES / 2; step; step /= 2) {
        h.a += __shfl_down_sync(0xffffffffu, h.a, step, LANES);
        h.b += __shfl_down_sync(0xffffffffu, h.b, step, LANES);
        h.c += __shfl_down_sync(0xffffffffu, h.c, step, LANES);
    }
    if (!mine || lane) return;

    u64 h0 = h.a, h1 = h.b, h2 = h.c;
#pragma unroll
    for (int pass = 0; pass < 3; ++pass) {
        h1 += h0 >> 44; h0 &= M44;
        h2 += h1 >> 44; h1 &= M44;
        h0 += (h2 >> 42) * 5; h2 &= M42;
    }
    h1 += h0 >> 44; h0 &= M44;
    u64 g0 = h0 + 5;
    u64 g1 = h1 + (g0 >> 44);
    u64 g2 = h2 + (g1 >> 44);
    if (g2 >> 42) {
        h0 = g0 & M44; h1 = g1 & M44; h2 = g2 & M42;
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
