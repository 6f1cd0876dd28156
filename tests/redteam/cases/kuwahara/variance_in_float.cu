// Kuwahara's filter: of the four squares of (r+1)^2 pixels that meet in a pixel, the one with the least variance gives
// its mean, rounded; of equal ones the first. Coordinates beyond the border are clamped.
// The tile and its rim are in shared memory; the variance is a float, which is
// four times as fast as products of 64 bits.

__global__ void __launch_bounds__(256) kuwahara(const unsigned char* in, unsigned char* out, int h, int w, int r)
{
    extern __shared__ unsigned char tile[];
    int wide = 32 + 2 * r, tall = 8 + 2 * r;
    int left = blockIdx.x * 32 - r, top = blockIdx.y * 8 - r;
    for (int j = threadIdx.y; j < tall; j += 8) {
        int sy = min(max(top + j, 0), h - 1);
        for (int i = threadIdx.x; i < wide; i += 32) {
            int sx = min(max(left + i, 0), w - 1);
            tile[j * wide + i] = in[(size_t)sy * w + sx];
        }
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
    float least = 3.4e38f;
    float part = 1.0f / count;
    unsigned best = 0;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        float mean = sum[q] * part;
        float spread = squares[q] * part - mean * mean;
        if (spread < least) {
            least = spread;
            best = sum[q];
        }
    }
    out[(size_t)y * w + x] = (unsigned char)((best + count / 2) / count);
}
