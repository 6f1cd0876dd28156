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
    for (int k = 0; k < 8; ++k) s[4 + k] = key[k];
    s[12] = counter + (unsigned)(first / 64);
    for (int k = 0; k < 3; ++k) s[13 + k] = nonce[k];
    for (int k = 0; k < 16; ++k) v[k] = s[k];
    for (int round = 0; round < 10; ++round) {
        for (int k = 0; k < 4; ++k) quarter(v[k], v[4 + k], v[8 + k], v[12 + k]);
        for (int k = 0; k < 4; ++k) quarter(v[k], v[4 + (k + 1) % 4], v[8 + (k + 2) % 4], v[12 + (k + 3) % 4]);
    }
    for (int k = 0; k < 64 && first + k < n; ++k)
        out[first + k] = in[first + k] ^ (unsigned char)((v[k / 4] + s[k / 4]) >> 8 * (k % 4));
}
