// Each byte of a picture becomes that of a table, in place; a warp holds the table in its registers.
__global__ void palette(unsigned char* img, const unsigned char* table, int n) {
    int lane = threadIdx.x % 32;
    // Eight bytes a lane, entries 8*lane to 8*lane+7.
    unsigned low = 0, high = 0;
    for (int k = 0; k < 4; ++k) {
        low |= (unsigned)table[lane * 8 + k] << 8 * k;
        high |= (unsigned)table[lane * 8 + 4 + k] << 8 * k;
    }
    size_t step = (size_t)gridDim.x * blockDim.x;
    // All lanes of a warp go round as often as its first.
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i - lane < n; i += step) {
        unsigned v = i < n ? img[i] : 0u;
        unsigned a = __shfl_sync(0xffffffffu, low, v / 8), b = __shfl_sync(0xffffffffu, high, v / 8);
        unsigned of = v % 8 < 4 ? a : b;
        if (i < n) img[i] = of >> v % 4 * 8;
    }
}
