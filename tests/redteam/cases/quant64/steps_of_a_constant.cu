__constant__ unsigned char table[64] = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

// Divides the coefficients of blocks of eight by eight by their steps, in place, halves away from zero. The steps are
// those of a standard, so many per cent of them.
// A thread keeps its step: strides are whole blocks.
__global__ void quant64(short* c, int blocks, int percent) {
    size_t stride = (size_t)gridDim.x * blockDim.x;
    int q = min(max((table[threadIdx.x % 64] * percent + 50) / 100, 1), 255);
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (size_t)blocks * 64; i += stride) {
        int v = c[i], a = (abs(v) + q / 2) / q;
        c[i] = v < 0 ? -a : a;
    }
}
