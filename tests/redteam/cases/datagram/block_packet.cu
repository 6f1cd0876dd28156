// Internet checksum (RFC 1071) of every packet, started from the sum of its pseudo header.
#include <cstdint>
__global__ void datagram(const uint8_t* data, const int* length, const unsigned* seed, unsigned* sum,
                         int packets, int cap) {
    __shared__ unsigned even_of[2][2], odd_of[2][2];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    // two warps a packet, packets two at a time with a barrier for both
    for (int first = blockIdx.x * 2; first < packets; first += gridDim.x * 2) {
        for (int k = 0; k < 2; k++) {
            int p = first + k;
            unsigned even = 0, odd = 0;
            if (p < packets) {
                const uint8_t* d = data + (size_t)p * cap;
                int n = length[p];
                for (int i = threadIdx.x; i < n; i += 64) {
                    if (lane & 1) odd += d[i];
                    else even += d[i];
                }
            }
            even = __reduce_add_sync(0xffffffffu, even);
            odd = __reduce_add_sync(0xffffffffu, odd);
            if (lane == 0) {
                even_of[k][warp] = even;
                odd_of[k][warp] = odd;
            }
        }
        __syncthreads();
        if (threadIdx.x < 2 && first + (int)threadIdx.x < packets) {
            int k = threadIdx.x;
            unsigned long long s = (unsigned long long)seed[first + k] +
                                   ((unsigned long long)(even_of[k][0] + even_of[k][1]) << 8) +
                                   (odd_of[k][0] + odd_of[k][1]);
            while (s >> 16) s = (s & 0xffff) + (s >> 16);
            sum[first + k] = ~(unsigned)s & 0xffff;
        }
    }
}
