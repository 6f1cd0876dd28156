#include <cstdint>

__device__ __forceinline__ unsigned oddmix(unsigned x)
{
    x = (x + 1) * 0x9E3779B1u;
    x ^= x >> 15;
    x *= 0x85EBCA77u;
    x ^= x >> 13;
    return x | 1u;                         // odd, so that no product becomes 0
}

// Warp a pair: product of one odd number for each letter (as with primes), the order does not matter.
__global__ void jumble(const uint8_t* left, const uint8_t* right, int* same, int rows, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    const uint8_t* a = left + (long long)row * n;
    const uint8_t* b = right + (long long)row * n;
    unsigned p = 1, q = 1, s = 0;
    for (int i = lane; i < n; i += 32) {
        p *= oddmix(a[i]);
        q *= oddmix(b[i]);
        s += (unsigned)a[i] - b[i];
    }
    for (int k = 16; k; k >>= 1) {
        p *= __shfl_xor_sync(0xffffffffu, p, k);
        q *= __shfl_xor_sync(0xffffffffu, q, k);
        s += __shfl_xor_sync(0xffffffffu, s, k);
    }
    if (lane == 0) same[row] = p == q && s == 0;
}
