// A column of whole numbers of `bits` bits each (1 to 32), one behind the other, lowest bit first, above a base.
__global__ void column(const unsigned* words, unsigned* out, int n, int bits, unsigned base) {
    bits = min(max(bits, 1), 32);
    unsigned mask = 0xffffffffu >> (32 - bits);
    size_t first = 4 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (first >= n) return;
    unsigned v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        if (first + k >= n) break;
        unsigned long long at = (unsigned long long)(first + k) * bits;
        size_t w = at / 32;
        int s = at % 32;
        // The word behind is looked at only where the number goes on in it.
        unsigned high = s + bits > 32 ? words[w + 1] : 0u;
        v[k] = base + (__funnelshift_r(words[w], high, s) & mask);
    }
    if (first + 3 < n && (size_t)out % 16 == 0) {
        *(uint4*)(out + first) = make_uint4(v[0], v[1], v[2], v[3]);
        return;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (first + k < n) out[first + k] = v[k];
}
