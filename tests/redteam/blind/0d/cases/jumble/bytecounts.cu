#include <cstdint>

// Every warp counts into bytes of its own (difference, 4 letters a word, fields kept apart by masks); the warps' words
// are added field by field at the end.
__device__ __forceinline__ unsigned addbytes(unsigned x, unsigned y)
{
    return ((x & 0x7f7f7f7fu) + (y & 0x7f7f7f7fu)) ^ ((x ^ y) & 0x80808080u);
}

__global__ void jumble(const uint8_t* left, const uint8_t* right, int* same, int rows, int n)
{
    __shared__ unsigned count[4][64];
    int row = blockIdx.x, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    const uint8_t* a = left + (long long)row * n;
    const uint8_t* b = right + (long long)row * n;
    for (int i = lane; i < 64; i += 32) count[warp][i] = 0;
    __syncwarp();
    for (int i = threadIdx.x; i < n; i += 128) {
        unsigned x = a[i], y = b[i];
        if (x == y) continue;
        unsigned* word = &count[warp][x >> 2];
        unsigned old = *word, seen;
        do {
            seen = old;
            old = atomicCAS(word, seen, addbytes(seen, 1u << (8 * (x & 3))));
        } while (old != seen);
        word = &count[warp][y >> 2];
        old = *word;
        do {
            seen = old;
            old = atomicCAS(word, seen, addbytes(seen, 255u << (8 * (y & 3))));
        } while (old != seen);
    }
    __syncthreads();
    if (warp == 0) {
        unsigned rest = 0;
        for (int i = lane; i < 64; i += 32)
            rest |= addbytes(addbytes(count[0][i], count[1][i]), addbytes(count[2][i], count[3][i]));
        unsigned any = __ballot_sync(0xffffffffu, rest != 0);
        if (lane == 0) same[row] = any ? 0 : 1;
    }
}
