// The Adler-32 checksum of each record; records lie one behind the other.
__global__ void adler(const unsigned char* data, unsigned* sum, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* p = data + (size_t)r * width;
    unsigned a = 1, b = 0;
    for (int i = 0; i < width; ++i) {
        a = (a + p[i]) % 65521u;
        b = (b + a) % 65521u;
    }
    sum[r] = b << 16 | a;
}
