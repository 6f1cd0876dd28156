// A column of whole numbers of `bits` bits each (1 to 32), one behind the other, lowest bit first, above a base.
__global__ void column(const unsigned* words, unsigned* out, int n, int bits, unsigned base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bits = min(max(bits, 1), 32);
    unsigned long long at = (unsigned long long)i * bits;
    size_t w = at / 32;
    int s = at % 32;
    unsigned v = words[w] >> s;
    if (s + bits > 32) v |= words[w + 1] << (32 - s);
    out[i] = base + (v & 0xffffffffu >> (32 - bits));
}
