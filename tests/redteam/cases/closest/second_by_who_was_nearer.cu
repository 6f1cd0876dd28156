// 132 blocks of 256. The distance and the first point are one number, of which the least is kept;
// whoever makes it smaller says which the second point is.
#define BLOCKS 132

__device__ unsigned done;
__device__ unsigned long long best = ~0ull;

__global__ void closest(const int* __restrict__ px, const int* __restrict__ py, int* __restrict__ pair,
                        long long* __restrict__ apart, int n) {
    __shared__ unsigned long long least;
    int t = threadIdx.x, b = -1;
    if (t == 0) least = ~0ull;
    __syncthreads();
    unsigned long long key = ~0ull;
    for (long long i = blockIdx.x + (long long)t * BLOCKS; i < n; i += 256 * BLOCKS) {
        long long x = px[i], y = py[i];
        for (int j = (int)i + 1; j < n; ++j) {
            long long dx = x - px[j], dy = y - py[j];
            // Below 2^33, as the coordinates are below 50000.
            unsigned long long q = (unsigned long long)(dx * dx + dy * dy) << 31 | i;
            if (q < key) {
                key = q;
                b = j;
            }
        }
    }
    atomicMin(&least, key);
    __syncthreads();
    // A point is one thread's, so the key is, too.
    if (key == least && key != ~0ull && key < atomicMin(&best, key)) atomicExch(&pair[1], b);
    __syncthreads();
    if (t > 0) return;
    __threadfence();
    if (atomicInc(&done, BLOCKS - 1) != BLOCKS - 1) return;
    unsigned long long all = atomicExch(&best, ~0ull);
    bool none = all == ~0ull;
    pair[0] = none ? -1 : (int)(all & 0x7fffffffu);
    if (none) pair[1] = -1;
    apart[0] = none ? -1 : (long long)(all >> 31);
}
