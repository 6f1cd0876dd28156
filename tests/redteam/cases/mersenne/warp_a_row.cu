// A warp for a row: lane k takes every 32nd number by the 32nd power of the point, and what it has
// is multiplied by a power for its place. A row is begun with zeros, so that its end is a lane's end.
#define P 2147483647ull

__device__ __forceinline__ unsigned long long times(unsigned long long a, unsigned long long b,
                                                    unsigned long long c) {
    return (a * b + c) % P;
}

__global__ void mersenne(const unsigned* __restrict__ data, unsigned* __restrict__ out, int rows, int cols,
                         int point) {
    int lane = threadIdx.x % 32, r = blockIdx.x * 8 + threadIdx.x / 32;
    if (r >= rows) return;
    const unsigned* row = data + (size_t)r * cols;
    long long b = point % (long long)P;
    unsigned long long at = b < 0 ? b + P : b, jump = at, place = 1, h = 0;
    for (int k = 0; k < 5; ++k) jump = times(jump, jump, 0);
    for (int k = lane; k < 31; ++k) place = times(place, at, 0);
    int zeros = (32 - cols % 32) % 32;
    for (int c = lane - zeros; c < cols; c += 32) h = times(h, jump, c >= 0 ? row[c] : 0u);
    h = times(h, place, 0);
    for (int d = 16; d > 0; d /= 2) h += __shfl_xor_sync(0xffffffffu, h, d);
    if (lane == 0) out[r] = (unsigned)(h % P);
}
