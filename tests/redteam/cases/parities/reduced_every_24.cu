// Two checksums of blocks of `len` bytes, one a disk: P their sum, Q their sum times powers of two, in the
// field of 256 numbers.
__device__ unsigned reduced(unsigned v) {
#pragma unroll
    for (int k = 31; k >= 8; --k)
        if (v >> k & 1u) v ^= 0x11du << (k - 8);
    return v;
}

__global__ void parities(const unsigned char* data, unsigned char* p, unsigned char* q, int disks, int len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= len) return;
    unsigned a = 0, b = 0;
    // A byte may be doubled 24 times before it leaves a word.
    for (int d = disks - 1; d >= 0;) {
        for (int k = 0; k < 24 && d >= 0; ++k, --d) {
            unsigned v = data[(size_t)d * len + i];
            a ^= v;
            b = b << 1 ^ v;
        }
        b = reduced(b);
    }
    p[i] = (unsigned char)a;
    q[i] = (unsigned char)b;
}
