// A column of whole numbers of `bits` bits each (1 to 32), one behind the other, lowest bit first, above a base.
__global__ void column(const unsigned* words, unsigned* out, int n, int bits, unsigned base) {
    bits = min(max(bits, 1), 32);
    unsigned mask = 0xffffffffu >> (32 - bits);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        // Shifts and masks of a short number are cheaper than those of a long one.
        unsigned at = (unsigned)i * (unsigned)bits;
        unsigned w = at >> 5, s = at & 31u;
        unsigned high = s + bits > 32 ? words[w + 1] : 0u;
        out[i] = base + (__funnelshift_r(words[w], high, s) & mask);
    }
}
