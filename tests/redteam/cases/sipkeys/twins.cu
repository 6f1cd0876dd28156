// SipHash-2-4 of many short keys: row i of `text` has `width` bytes, the first min(len[i], width) of them count
// (a negative length counts as 0). Two rows for each thread (the rounds of one hide the latency of the other).
#include <cuda_runtime.h>
#include <stdint.h>

__device__ __forceinline__ uint64_t rotl(uint64_t x, int b) { return (x << b) | (x >> (64 - b)); }

struct Sip {
    uint64_t v0, v1, v2, v3;
    __device__ __forceinline__ void init(uint64_t k0, uint64_t k1)
    {
        v0 = k0 ^ 0x736f6d6570736575ull;
        v1 = k1 ^ 0x646f72616e646f6dull;
        v2 = k0 ^ 0x6c7967656e657261ull;
        v3 = k1 ^ 0x7465646279746573ull;
    }
    __device__ __forceinline__ void round()
    {
        v0 += v1; v1 = rotl(v1, 13); v1 ^= v0; v0 = rotl(v0, 32);
        v2 += v3; v3 = rotl(v3, 16); v3 ^= v2;
        v0 += v3; v3 = rotl(v3, 21); v3 ^= v0;
        v2 += v1; v1 = rotl(v1, 17); v1 ^= v2; v2 = rotl(v2, 32);
    }
    __device__ __forceinline__ void absorb(uint64_t m)
    {
        v3 ^= m;
        round();
        round();
        v0 ^= m;
    }
    __device__ __forceinline__ uint64_t finish()
    {
        v2 ^= 0xff;
        round();
        round();
        round();
        round();
        return v0 ^ v1 ^ v2 ^ v3;
    }
};

// Eight bytes from any address. Two aligned words begin at or before the first byte and end at or before the last one;
// what lies in the third word is read bytewise, since the buffer may end inside it.
__device__ __forceinline__ uint64_t eight(const uint8_t* p)
{
    uintptr_t at = reinterpret_cast<uintptr_t>(p);
    const uint32_t* w = reinterpret_cast<const uint32_t*>(at & ~(uintptr_t)3);
    unsigned shift = (unsigned)(at & 3) * 8;
    uint32_t a = w[0], b = w[1], c = 0;
    for (unsigned t = 0; t < shift; t += 8) c |= (uint32_t)p[8 - (shift - t) / 8] << t;     // bytes of the third word, one by one
    return (uint64_t)__funnelshift_r(b, c, shift) << 32 | __funnelshift_r(a, b, shift);
}

__device__ __forceinline__ uint64_t closing(const uint8_t* p, int rest, int l)
{
    uint64_t m = (uint64_t)l << 56;
    for (int b = 0; b < rest; ++b) m |= (uint64_t)p[b] << (8 * b);
    return m;
}

__global__ void sip_rows(const uint8_t* text, const int* len, const uint64_t* key, uint64_t* digest, int n, int width)
{
    uint64_t k0 = key[0], k1 = key[1];
    int half = (n + 1) / 2, step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < half; i += step) {
        int j = i + half;
        bool both = j < n;
        const uint8_t *p = text + (size_t)i * width, *q = text + (size_t)j * width;
        int l = max(0, min(len[i], width)), m = both ? max(0, min(len[j], width)) : 0;
        Sip s, t;
        s.init(k0, k1);
        t.init(k0, k1);
        int a = 0, b = 0;
        for (; a + 8 <= min(l, m); a += 8) {
            uint64_t x = eight(p + a), y = eight(q + a);
            s.absorb(x);
            t.absorb(y);
        }
        for (b = a; a + 8 <= l; a += 8) s.absorb(eight(p + a));
        for (; b + 8 <= m; b += 8) t.absorb(eight(q + b));
        s.absorb(closing(p + a, l - a, l));
        digest[i] = s.finish();
        if (both) {
            t.absorb(closing(q + b, m - b, m));
            digest[j] = t.finish();
        }
    }
}

extern "C" void sipkeys(const uint8_t* text, const int* len, const uint64_t* key, uint64_t* digest, int n, int width)
{
    sip_rows<<<(n + 255) / 256, 128>>>(text, len, key, digest, n, width);
}
