// Whole numbers in the order of the bits of floats: negative ones turned over.
__global__ void order(const float* x, unsigned* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int b = __float_as_int(x[i]);
    key[i] = b ^ (b >> 31 | (int)0x80000000);
}
