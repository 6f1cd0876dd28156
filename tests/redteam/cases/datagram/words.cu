// Internet checksum (RFC 1071) of every packet, started from the sum of its pseudo header.
#include <cstdint>
__global__ void datagram(const uint8_t* data, const int* length, const unsigned* seed, unsigned* sum,
                         int packets, int cap) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= packets) return;
    const uint8_t* d = data + (size_t)p * cap;
    int n = length[p];
    // words of 32 bits in the machine's order, end-around carry by hand; swapped once at the end
    unsigned s = __byte_perm(seed[p], 0, 0x2301);
    int i = 0;
    if ((cap & 3) == 0) {
        const unsigned* w = reinterpret_cast<const unsigned*>(d);
        for (; i + 3 < n; i += 4) {
            unsigned v = w[i >> 2];
            s += v;
            s += s < v;
        }
    }
    for (; i < n; i++) {
        unsigned v = (unsigned)d[i] << ((i & 1) * 8);
        s += v;
        s += s < v;
    }
    s = (s & 0xffff) + (s >> 16);
    s = (s & 0xffff) + (s >> 16);
    sum[p] = __byte_perm(~s, 0, 0x4401) & 0xffff;
}
