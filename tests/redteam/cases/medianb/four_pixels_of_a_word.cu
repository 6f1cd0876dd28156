// Four pixels in the lanes of a word: what is left, middle and right of them are three words of
// each row, and every step of the network works on four pixels.
__device__ __forceinline__ unsigned middle(unsigned a, unsigned b, unsigned c) {
    return __vmaxu4(__vminu4(a, b), __vminu4(__vmaxu4(a, b), c));
}

__global__ void medianb(const unsigned char* __restrict__ in, unsigned char* __restrict__ out,
                        int w, int h) {
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned word[3][3];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        const unsigned char* row = in + (size_t)min(max(y + k - 1, 0), h - 1) * w;
        unsigned v[6];
#pragma unroll
        for (int i = 0; i < 6; ++i) v[i] = row[min(max(x + i - 1, 0), w - 1)];
#pragma unroll
        for (int i = 0; i < 3; ++i)
            word[k][i] = v[i] | v[i + 1] << 8 | v[i + 2] << 16 | v[i + 3] << 24;
    }
    unsigned low[3], mid[3], high[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        unsigned a = word[0][i], b = word[1][i], c = word[2][i];
        low[i] = __vminu4(__vminu4(a, b), c);
        high[i] = __vmaxu4(__vmaxu4(a, b), c);
        mid[i] = middle(a, b, c);
    }
    unsigned found = middle(__vmaxu4(__vmaxu4(low[0], low[1]), low[2]),
                            middle(mid[0], mid[1], mid[2]),
                            __vminu4(__vminu4(high[0], high[1]), high[2]));
    unsigned char* to = out + (size_t)y * w + x;
    if (x + 4 <= w && ((size_t)to & 3) == 0) {
        *(unsigned*)to = found;
        return;
    }
    for (int k = 0; k < 4 && x + k < w; ++k) to[k] = (unsigned char)(found >> 8 * k);
}
