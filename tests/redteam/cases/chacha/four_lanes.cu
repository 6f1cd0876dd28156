__device__ void quarter(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
    a += b, d ^= a, d = d << 16 | d >> 16;
    c += d, b ^= c, b = b << 12 | b >> 20;
    a += b, d ^= a, d = d << 8 | d >> 24;
    c += d, b ^= c, b = b << 7 | b >> 25;
}

// A text under the ChaCha20 cipher: each 64 bytes have a number, from `counter` on, that with the key and
// the nonce makes the bytes they are joined with. Four lanes work on 64 bytes, a column each.
__global__ void chacha(const unsigned char* in, const unsigned* key, const unsigned* nonce, unsigned char* out,
                       int n, unsigned counter) {
    const unsigned all = 0xffffffffu;
    unsigned lane = threadIdx.x % 4, from = threadIdx.x % 32 & ~3u;
    size_t block = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 4;
    unsigned a = lane == 0 ? 0x61707865u : lane == 1 ? 0x3320646eu : lane == 2 ? 0x79622d32u : 0x6b206574u;
    unsigned b = key[lane], c = key[4 + lane];
    unsigned d = lane ? nonce[lane - 1] : counter + (unsigned)block;
    unsigned a0 = a, b0 = b, c0 = c, d0 = d;
    for (int round = 0; round < 10; ++round) {
        quarter(a, b, c, d);
        b = __shfl_sync(all, b, from + (lane + 1) % 4);
        c = __shfl_sync(all, c, from + (lane + 2) % 4);
        d = __shfl_sync(all, d, from + (lane + 3) % 4);
        quarter(a, b, c, d);
        b = __shfl_sync(all, b, from + (lane + 3) % 4);
        c = __shfl_sync(all, c, from + (lane + 2) % 4);
        d = __shfl_sync(all, d, from + (lane + 1) % 4);
    }
    unsigned v[4] = {a + a0, b + b0, c + c0, d + d0};
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        size_t at = block * 64 + k / 4 * 16 + lane * 4 + k % 4;
        if (at < n) out[at] = in[at] ^ (unsigned char)(v[k / 4] >> 8 * (k % 4));
    }
}
