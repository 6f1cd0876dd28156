// Whole numbers in the order of the bits of floats: negative ones turned over.
__global__ void order(const float* x, unsigned* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i >= n / 4) return;
    uint4 b = ((const uint4*)x)[i];
    b.x ^= (int)b.x >> 31 | 0x80000000u;
    b.y ^= (int)b.y >> 31 | 0x80000000u;
    b.z ^= (int)b.z >> 31 | 0x80000000u;
    b.w ^= (int)b.w >> 31 | 0x80000000u;
    ((uint4*)key)[i] = b;
}
