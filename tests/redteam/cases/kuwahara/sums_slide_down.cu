// Kuwahara's filter: of the four squares of (r+1)^2 pixels that meet in a pixel, the one with the least variance gives
// its mean, rounded; of equal ones the first. Coordinates beyond the border are clamped.
// A thread goes down 16 rows. The four squares of a pixel are two pairs, left and right; a square's sums are carried
// from row to row, adding the row that comes in and taking off the one that leaves.

__global__ void __launch_bounds__(128) kuwahara(const unsigned char* in, unsigned char* out, int h, int w, int r)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.y * 16;
    if (x >= w) return;
    unsigned count = (r + 1) * (r + 1);
    unsigned sum[4] = {0, 0, 0, 0}, squares[4] = {0, 0, 0, 0};
    int last = min(first + 16, h);

    // Adds (or, with sign -1, takes off) the row's part left or right of the pixel.
    auto row = [&](int y, int q, int sign) {
        const unsigned char* p = in + (size_t)min(max(y, 0), h - 1) * w;
        int x0 = q % 2 ? x : x - r;
        unsigned s = 0, s2 = 0;
        for (int dx = 0; dx <= r; ++dx) {
            unsigned v = p[min(max(x0 + dx, 0), w - 1)];
            s += v;
            s2 += v * v;
        }
        sum[q] += sign * s;
        squares[q] += sign * s2;
    };

    for (int q = 0; q < 4; ++q)
        for (int dy = 0; dy <= r; ++dy) row(first + dy - (q / 2 ? 0 : r), q, 1);
    for (int y = first;;) {
        unsigned long long least = ~0ull;
        unsigned best = 0;
        for (int q = 0; q < 4; ++q) {
            unsigned long long spread = (unsigned long long)count * squares[q] - (unsigned long long)sum[q] * sum[q];
            if (spread < least) {
                least = spread;
                best = sum[q];
            }
        }
        out[(size_t)y * w + x] = (unsigned char)((best + count / 2) / count);
        if (++y >= last) break;
        for (int q = 0; q < 4; ++q) {
            int base = q / 2 ? y : y - r;
            row(base + r, q, 1);
            row(base - 1, q, -1);
        }
    }
}
