// Whole numbers in the order of the bits of floats: negative ones turned over.
__global__ void order(const float* x, unsigned* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned b = __float_as_uint(x[i]), sign;
    asm("prmt.b32 %0, %1, 0, 0xbbbb;" : "=r"(sign) : "r"(b));
    asm("lop3.b32 %0, %1, %2, %3, 0x1e;" : "=r"(b) : "r"(b), "r"(sign), "r"(0x80000000u));
    key[i] = b;
}
