// Two checksums of blocks of `len` bytes, one a disk: P their sum, Q their sum times powers of two, in the
// field of 256 numbers.
__device__ unsigned char twice(unsigned char v) {
    return (unsigned char)(v << 1 ^ (v & 128 ? 0x1d : 0));
}

__global__ void parities(const unsigned char* data, unsigned char* p, unsigned char* q, int disks, int len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= len) return;
    unsigned char a = 0, b = 0;
    for (int d = disks - 1; d >= 0; --d) {
        unsigned char v = data[(size_t)d * len + i];
        a ^= v;
        b = twice(b) ^ v;
    }
    p[i] = a;
    q[i] = b;
}
