// In how many bits each word of a and each of b differ; what lies beyond `bits` is not looked at.
__global__ void hamming(const unsigned* a, const unsigned* b, int* apart, int m, int n, int bits) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    int words = (bits + 31) / 32, sum = 0;
    if (words % 16 == 0) {
        const uint4 *p = (const uint4*)(a + row * words), *q = (const uint4*)(b + col * words);
        for (int k = 0; k < words / 4 - (words > 16); ++k) {
            uint4 x = p[k], y = q[k];
            unsigned last = y.w ^ x.w;
            if (k == words / 4 - 1 && bits % 32) last &= (1u << bits % 32) - 1;
            sum += __popc(x.x ^ y.x) + __popc(x.y ^ y.y) + __popc(x.z ^ y.z) + __popc(last);
        }
        apart[row * n + col] = sum;
        return;
    }
    for (int k = 0; k < words; ++k) {
        unsigned d = a[row * words + k] ^ b[col * words + k];
        if (k == words - 1 && bits % 32) d &= (1u << bits % 32) - 1;
        sum += __popc(d);
    }
    apart[row * n + col] = sum;
}
