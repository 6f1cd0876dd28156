// Two checksums of blocks of `len` bytes, one a disk: P their sum, Q their sum times powers of two, in the
// field of 256 numbers.
__device__ unsigned twice(unsigned v) {
    return (v & 0x7f7f7f7fu) << 1 ^ (v >> 7 & 0x01010101u) * 0x1du;
}

__global__ void parities(const unsigned char* data, unsigned char* p, unsigned char* q, int disks, int len) {
    size_t first = blockIdx.x * (size_t)blockDim.x + threadIdx.x, step = (size_t)gridDim.x * blockDim.x;
    size_t words = 0;
    if (len % 4 == 0 && ((size_t)data | (size_t)p | (size_t)q) % 4 == 0) words = len / 4;
    for (size_t i = first; i < words; i += step) {
        const unsigned* from = (const unsigned*)data + i;
        unsigned a = 0, b = 0;
        for (int d = disks - 1; d >= 0; --d) {
            unsigned v = from[d * words];
            // Where a disk holds nothing there is nothing to add.
            if (v == 0) continue;
            a ^= v;
            b = twice(b) ^ v;
        }
        ((unsigned*)p)[i] = a;
        ((unsigned*)q)[i] = b;
    }
    for (size_t i = 4 * words + first; i < len; i += step) {
        unsigned a = 0, b = 0;
        for (int d = disks - 1; d >= 0; --d) {
            unsigned v = data[(size_t)d * len + i];
            a ^= v;
            b = twice(b) ^ v;
        }
        p[i] = (unsigned char)a;
        q[i] = (unsigned char)b;
    }
}
