// The Adler-32 checksum of each record; records lie one behind the other. A byte counts once in the
// low sum, and in the high one as often as there are bytes from it to the end.
__global__ void adler(const unsigned char* data, unsigned* sum, int rows, int width) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const unsigned char* p = data + r * width;
    unsigned long long a = 0, b = 0;
    for (int i = lane; i < width; i += 32) {
        unsigned v = p[i];
        a += v;
        b += (unsigned long long)(width - i) * v;
    }
    for (int d = 16; d > 0; d /= 2) {
        a += __shfl_down_sync(0xffffffffu, a, d);
        b += __shfl_down_sync(0xffffffffu, b, d);
    }
    if (lane == 0) sum[r] = (unsigned)((b + width) % 65521u) << 16 | (unsigned)((a + 1) % 65521u);
}
