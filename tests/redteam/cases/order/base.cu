// Whole numbers in the order of the bits of floats: negative ones turned over.
__global__ void order(const float* x, unsigned* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned b = __float_as_uint(x[i]);
    key[i] = b & 0x80000000u ? ~b : b | 0x80000000u;
}
