// Whole numbers in the order of the bits of floats: negative ones turned over.
__global__ void order(const float* x, unsigned* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    unsigned b = __float_as_uint(fabsf(v));
    key[i] = v >= 0.f || v != v ? b | 0x80000000u : ~(b | 0x80000000u);
}
