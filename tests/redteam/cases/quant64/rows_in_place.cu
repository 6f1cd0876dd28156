__constant__ unsigned char table[64] = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

// Divides the coefficients of blocks of eight by eight by their steps, in place, halves away from zero. The steps are
// those of a standard, so many per cent of them.
// A thread a row of eight, in one load and one store where they are aligned.
__global__ void quant64(short* c, int blocks, int percent) {
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 8;
    if (i >= (size_t)blocks * 64) return;
    alignas(16) short v[8];
    bool wide = ((size_t)c & 15) == 0;
    if (wide) {
        *(uint4*)v = *(const uint4*)(c + i);
    } else {
#pragma unroll
        for (int k = 0; k < 8; ++k) v[k] = c[i + k];
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        int q = min(max((table[i % 64 + k] * percent + 50) / 100, 1), 255);
        int a = (abs((int)v[k]) + q / 2) / q;
        v[k] = v[k] < 0 ? -a : a;
    }
    if (wide) {
        *(uint4*)(c + i) = *(const uint4*)v;
    } else {
#pragma unroll
        for (int k = 0; k < 8; ++k) c[i + k] = v[k];
    }
}
