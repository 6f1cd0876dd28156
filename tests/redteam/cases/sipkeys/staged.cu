// SipHash-2-4 of many short keys: row i of `text` has `width` bytes, the first min(len[i], width) of them count
// (a negative length counts as 0). A warp stages 64-byte slabs of its 32 rows in shared memory.
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

#define WARPS 4
#define SLAB 64
#define PITCH 17            // words a row in shared memory: odd, so that the 32 rows fall into distinct banks

// Bytes come in coalesced (a whole row of a slab is two loads of 32 lanes); afterwards each lane reads its own row
// from shared memory. No assumption is made on the alignment of a row.
__global__ void __launch_bounds__(32 * WARPS)
sip_rows(const uint8_t* text, const int* len, const uint64_t* key, uint64_t* digest, int n, int width)
{
    __shared__ uint32_t slab[WARPS][32 * PITCH];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int first = (blockIdx.x * WARPS + warp) * 32, i = first + lane;
    uint32_t* mine = slab[warp];
    int l = i < n ? max(0, min(len[i], width)) : -1;
    int longest = __reduce_max_sync(0xffffffffu, l);
    Sip s;
    s.init(key[0], key[1]);
    bool done = l < 0;

    for (int at = 0; at <= longest; at += SLAB) {       // <=: the closing word of a length of at is still to come
        for (int r = 0; r < 32; ++r) {
            int lr = __shfl_sync(0xffffffffu, l, r);
            const uint8_t* p = text + (size_t)(first + r) * width + at;
            uint8_t* q = reinterpret_cast<uint8_t*>(mine + r * PITCH);
#pragma unroll
            for (int h = 0; h < SLAB; h += 32) q[h + lane] = at + h + lane < lr ? p[h + lane] : 0;
        }
        __syncwarp();
        if (!done)
            for (int w = 0; w < SLAB / 8; ++w) {
                uint64_t m = (uint64_t)mine[lane * PITCH + 2 * w + 1] << 32 | mine[lane * PITCH + 2 * w];
                if (at + 8 * w + 8 <= l) s.absorb(m);
                else {
                    s.absorb(m | (uint64_t)l << 56);    // bytes beyond the length are zeros
                    done = true;
                    break;
                }
            }
        __syncwarp();
    }
    if (i < n) digest[i] = s.finish();
}

extern "C" void sipkeys(const uint8_t* text, const int* len, const uint64_t* key, uint64_t* digest, int n, int width)
{
    sip_rows<<<(n + 127) / 128, 128>>>(text, len, key, digest, n, width);
}
