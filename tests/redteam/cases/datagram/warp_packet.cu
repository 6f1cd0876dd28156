// Internet checksum (RFC 1071) of every packet, started from the sum of its pseudo header.
#include <cstdint>
__global__ void datagram(const uint8_t* data, const int* length, const unsigned* seed, unsigned* sum,
                         int packets, int cap) {
    int p = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (p >= packets) return;
    const uint8_t* d = data + (size_t)p * cap;
    int n = length[p];
    unsigned even = 0, odd = 0;
    // 32 is even: a lane meets bytes of one parity only
    for (int i = lane; i < n; i += 32) {
        if (lane & 1) odd += d[i];
        else even += d[i];
    }
    even = __reduce_add_sync(0xffffffffu, even);
    odd = __reduce_add_sync(0xffffffffu, odd);
    if (lane == 0) {
        unsigned long long s = (unsigned long long)seed[p] + ((unsigned long long)even << 8) + odd;
        while (s >> 16) s = (s & 0xffff) + (s >> 16);
        sum[p] = ~(unsigned)s & 0xffff;
    }
}
