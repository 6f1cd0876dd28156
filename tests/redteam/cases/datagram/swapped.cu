// Internet checksum (RFC 1071) of every packet, started from the sum of its pseudo header.
#include <cstdint>
__global__ void datagram(const uint8_t* data, const int* length, const unsigned* seed, unsigned* sum,
                         int packets, int cap) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= packets) return;
    const uint8_t* d = data + (size_t)p * cap;
    int n = length[p];
    // sums do not depend on the order of the bytes in a word, if all are swapped alike
    unsigned long long s = __byte_perm(seed[p], 0, 0x2301);
    int i = 0;
    if ((cap & 1) == 0) {
        const unsigned short* w = reinterpret_cast<const unsigned short*>(d);
        for (; i + 1 < n; i += 2) s += w[i >> 1];
    } else {
        for (; i + 1 < n; i += 2) s += d[i] | ((unsigned)d[i + 1] << 8);
    }
    if (i < n) s += d[i];
    while (s >> 16) s = (s & 0xffff) + (s >> 16);
    sum[p] = __byte_perm(~(unsigned)s, 0, 0x4401) & 0xffff;
}
