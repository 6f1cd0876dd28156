// Whole numbers in the order of the bits of floats: negative ones turned over.
__global__ void order(const float* x, unsigned* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    union {
        float f;
        int i;
    } u;
    u.f = __ldcs(x + i);
    __stcs(key + i, (unsigned)(u.i < 0 ? -1 - u.i : u.i - 2147483647 - 1));
}
