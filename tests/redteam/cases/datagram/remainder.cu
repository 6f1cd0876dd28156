// Internet checksum (RFC 1071) of every packet, started from the sum of its pseudo header.
#include <cstdint>
__global__ void datagram(const uint8_t* data, const int* length, const unsigned* seed, unsigned* sum,
                         int packets, int cap) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= packets) return;
    const uint8_t* d = data + (size_t)p * cap;
    int n = length[p];
    unsigned long long s = seed[p];
    for (int i = 0; i + 1 < n; i += 2) s += ((unsigned)d[i] << 8) | d[i + 1];
    if (n & 1) s += (unsigned)d[n - 1] << 8;
    unsigned r = (unsigned)(s % 65535u);
    if (r == 0 && s != 0) r = 65535u;
    sum[p] = 65535u - r;
}
