// Kuwahara's filter: of the four squares of (r+1)^2 pixels that meet in a pixel, the one with the least variance gives
// its mean, rounded; of equal ones the first. Coordinates beyond the border are clamped.
// The tile and its rim are in shared memory; sums are 32 bits wide, only the variance needs more.

__global__ void __launch_bounds__(256) kuwahara(const unsigned char* in, unsigned char* out, int h, int w, int r)
{
    extern __shared__ unsigned char tile[];
    int wide = 32 + 2 * r, tall = 8 + 2 * r;
    int left = blockIdx.x * 32 - r, top = blockIdx.y * 8 - r;
    // Two columns a thread: the tile's, and the rim's.
    int first = min(max(left + (int)threadIdx.x, 0), w - 1);
    int second = min(max(left + (int)threadIdx.x + 32, 0), w - 1);
    for (int j = threadIdx.y; j < tall; j += 8) {
        const unsigned char* row = in + (size_t)min(max(top + j, 0), h - 1) * w;
        tile[j * wide + threadIdx.x] = row[first];
        if (threadIdx.x < 2 * r) tile[j * wide + threadIdx.x + 32] = row[second];
    }
    __syncthreads();
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned count = (r + 1) * (r + 1);
    unsigned sum[4], squares[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        const unsigned char* p = tile + (threadIdx.y + (q / 2 ? r : 0)) * wide + threadIdx.x + (q % 2 ? r : 0);
        unsigned s = 0, s2 = 0;
        for (int dy = 0; dy <= r; ++dy, p += wide)
            for (int dx = 0; dx <= r; ++dx) {
                unsigned v = p[dx];
                s += v;
                s2 += v * v;
            }
        sum[q] = s;
        squares[q] = s2;
    }
    unsigned long long least = ~0ull;
    unsigned best = 0;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        unsigned long long spread = (unsigned long long)count * squares[q] - (unsigned long long)sum[q] * sum[q];
        if (spread < least) {
            least = spread;
            best = sum[q];
        }
    }
    out[(size_t)y * w + x] = (unsigned char)((best + count / 2) / count);
}
