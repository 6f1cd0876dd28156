// Internet checksum (RFC 1071) of every packet, started from the sum of its pseudo header.
#include <cstdint>
__global__ void datagram(const uint8_t* data, const int* length, const unsigned* seed, unsigned* sum,
                         int packets, int cap) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= packets) return;
    const uint8_t* d = data + (size_t)p * cap;
    int n = length[p];
    unsigned t = seed[p];
    unsigned any = 0;
    t %= 65535u;
    for (int i = 0; i < n; i += 2) {
        unsigned v = (unsigned)d[i] << 8;
        if (i + 1 < n) v |= d[i + 1];
        any |= v;
        t += v;
        if (t >= 65535u) t -= 65535u;
    }
    if (t >= 65535u) t -= 65535u;
    // zero stands for all ones where anything was added
    if (t == 0 && any) t = 65535u;
    sum[p] = 65535u - t;
}
