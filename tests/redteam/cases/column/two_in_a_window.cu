// A column of whole numbers of `bits` bits each (1 to 32), one behind the other, lowest bit first, above a base.
__global__ void column(const unsigned* words, unsigned* out, int n, int bits, unsigned base) {
    bits = min(max(bits, 1), 32);
    unsigned mask = 0xffffffffu >> (32 - bits);
    size_t first = 2 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (first >= n) return;
    bool both = first + 1 < n;
    unsigned long long at = (unsigned long long)first * bits;
    size_t w = at / 32;
    int s = at % 32;
    // Two numbers from one window of two words.
    unsigned long long window = words[w];
    if (s + (both ? 2 * bits : bits) > 32) window |= (unsigned long long)words[w + 1] << 32;
    out[first] = base + ((unsigned)(window >> s) & mask);
    if (both) out[first + 1] = base + ((unsigned)(window >> (s + bits)) & mask);
}
