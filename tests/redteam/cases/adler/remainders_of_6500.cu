// The Adler-32 checksum of each record; records lie one behind the other.
#define MOST 6500

__global__ void adler(const unsigned char* data, unsigned* sum, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* p = data + (size_t)r * width;
    unsigned a = 1, b = 0;
    // So many bytes fit before the remainder must be taken.
    for (int i = 0; i < width;) {
        int end = width - i > MOST ? i + MOST : width;
        for (; i < end; ++i) {
            a += p[i];
            b += a;
        }
        a %= 65521u;
        b %= 65521u;
    }
    sum[r] = b << 16 | a;
}
