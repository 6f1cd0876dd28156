// A column of whole numbers of `bits` bits each (1 to 32), one behind the other, lowest bit first, above a base.
__global__ void column(const unsigned* words, unsigned* out, int n, int bits, unsigned base) {
    // 256 numbers begin and end with a word: eight words for each bit.
    __shared__ unsigned tile[256];
    bits = min(max(bits, 1), 32);
    size_t all = ((size_t)n * bits + 31) / 32, start = (size_t)blockIdx.x * 8 * bits;
    int t = threadIdx.x;
    if (t < 8 * bits && start + t < all) tile[t] = words[start + t];
    __syncthreads();
    size_t i = blockIdx.x * (size_t)256 + t;
    if (i >= n) return;
    int at = t * bits, w = at / 32, s = at % 32;
    unsigned v = tile[w] >> s;
    if (s + bits > 32) v |= tile[w + 1] << (32 - s);
    out[i] = base + (v & 0xffffffffu >> (32 - bits));
}
