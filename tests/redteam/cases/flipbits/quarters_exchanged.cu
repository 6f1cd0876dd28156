// A matrix of bits, turned: 32 columns to a word before, 32 rows to a word behind.
__global__ void flipbits(const unsigned* in, unsigned* out, int rows, int words) {
    int high = (rows + 31) / 32, lane = threadIdx.x & 31;
    size_t warp = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32;
    if (warp >= (size_t)words * high) return;
    int w = (int)(warp % words), q = (int)(warp / words);
    int row = q * 32 + lane;
    unsigned word = row < rows ? in[(size_t)row * words + w] : 0u;
    // Quarters are exchanged crosswise, from 16 by 16 down to single bits.
    unsigned turned = word;
    for (unsigned d = 16, low = 0xffffu; d; d /= 2, low ^= low << d) {
        unsigned other = __shfl_xor_sync(~0u, turned, d);
        turned = lane & d ? (turned & ~low) | (other >> d & low)
                          : (turned & low) | (other & low) << d;
    }
    out[((size_t)w * 32 + lane) * high + q] = turned;
}
