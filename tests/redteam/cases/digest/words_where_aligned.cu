template <typename Word>
__device__ __forceinline__ unsigned long long eat(unsigned long long h, Word w) {
#pragma unroll
    for (unsigned b = 0; b < sizeof(Word); ++b) {
        h ^= (unsigned long long)((w >> (8 * b)) & 0xff);
        h *= 1099511628211ULL;
    }
    return h;
}

__global__ void digest(const unsigned char* __restrict__ text, unsigned long long* hash, int rows,
                       int width) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* at = text + (size_t)r * width;
    unsigned long long h = 14695981039346656037ULL;
    int i = 0;
    if (((size_t)at & 3) == 0)
        for (; i + 4 <= width; i += 4) h = eat(h, *reinterpret_cast<const unsigned*>(at + i));
    for (; i < width; ++i) h = eat(h, at[i]);
    hash[r] = h;
}
