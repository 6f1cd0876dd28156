// A column of whole numbers of `bits` bits each (1 to 32), one behind the other, lowest bit first, above a base.
__global__ void column(const unsigned* words, unsigned* out, int n, int bits, unsigned base) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bits = min(max(bits, 1), 32);
    unsigned long long at = (unsigned long long)i * bits;
    const unsigned* from = words + at / 32;
    // No branch: the number lies in these two words.
    unsigned low = from[0], high = from[1];
    out[i] = base + (__funnelshift_r(low, high, at % 32) & 0xffffffffu >> (32 - bits));
}
