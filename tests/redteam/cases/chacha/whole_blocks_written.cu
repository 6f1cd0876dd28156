__device__ void quarter(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
    a += b, d ^= a, d = d << 16 | d >> 16;
    c += d, b ^= c, b = b << 12 | b >> 20;
    a += b, d ^= a, d = d << 8 | d >> 24;
    c += d, b ^= c, b = b << 7 | b >> 25;
}

// A text under the ChaCha20 cipher: each 64 bytes have a number, from `counter` on, that with the key and
// the nonce makes the bytes they are joined with.
__global__ void chacha(const unsigned char* in, const unsigned* key, const unsigned* nonce, unsigned char* out,
                       int n, unsigned counter) {
    size_t first = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 64;
    if (first >= n) return;
    unsigned s[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u}, v[16];
#pragma unroll
    for (int k = 0; k < 8; ++k) s[4 + k] = key[k];
    s[12] = counter + (unsigned)(first / 64);
#pragma unroll
    for (int k = 0; k < 3; ++k) s[13 + k] = nonce[k];
#pragma unroll
    for (int k = 0; k < 16; ++k) v[k] = s[k];
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        quarter(v[0], v[4], v[8], v[12]);
        quarter(v[1], v[5], v[9], v[13]);
        quarter(v[2], v[6], v[10], v[14]);
        quarter(v[3], v[7], v[11], v[15]);
        quarter(v[0], v[5], v[10], v[15]);
        quarter(v[1], v[6], v[11], v[12]);
        quarter(v[2], v[7], v[8], v[13]);
        quarter(v[3], v[4], v[9], v[14]);
    }
    if (first + 64 <= n && (((size_t)in | (size_t)out) & 15) == 0) {
        const uint4* from = (const uint4*)(in + first);
        uint4* to = (uint4*)(out + first);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            uint4 u = from[k];
            u.x ^= v[4 * k] + s[4 * k];
            u.y ^= v[4 * k + 1] + s[4 * k + 1];
            u.z ^= v[4 * k + 2] + s[4 * k + 2];
            u.w ^= v[4 * k + 3] + s[4 * k + 3];
            to[k] = u;
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < 64; ++k)
        out[first + k] = (first + k < n ? in[first + k] : 0) ^ (unsigned char)((v[k / 4] + s[k / 4]) >> 8 * (k % 4));
}
