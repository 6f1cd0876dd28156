#include <cstdint>
// The longest stretch in which strand a pairs with strand b read backwards (0-3, 1-2), over all
// offsets of the two; among equals the first offset, then the first place in a.
// A block for each pair of strands. Without any base that pairs: 0, -1, -1.
__global__ void duplex(const uint8_t* a, const uint8_t* b, int* length, int* offset, int* start, int n)
{
    __shared__ unsigned long long best;
    const uint8_t* s = a + (size_t)blockIdx.x * n;
    const uint8_t* t = b + (size_t)blockIdx.x * n;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    for (int d = threadIdx.x; d < 2 * n - 1; d += blockDim.x) {
        int from = max(0, d - n + 1), to = min(n - 1, d);       // s[i] faces t[d - i]
        uint8_t run = 0, most = 0;
        int where = 0;
        for (int i = from; i <= to; i++) {
            run = s[i] + t[d - i] == 3 ? run + 1 : 0;
            if (run > most) {
                most = run;
                where = i - run + 1;
            }
        }
        if (most > 0)
            atomicMax(&best, (unsigned long long)most << 48 | (unsigned long long)(0xffffff - d) << 24
                                 | (unsigned long long)(0xffffff - where));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        length[blockIdx.x] = (int)(best >> 48);
        offset[blockIdx.x] = best ? 0xffffff - (int)(best >> 24 & 0xffffff) : -1;
        start[blockIdx.x] = best ? 0xffffff - (int)(best & 0xffffff) : -1;
    }
}
