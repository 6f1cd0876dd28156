// Kuwahara's filter: of the four squares of (r+1)^2 pixels that meet in a pixel, the one with the least variance gives
// its mean, rounded; of equal ones the first. Coordinates beyond the border are clamped.

__global__ void kuwahara(const unsigned char* in, unsigned char* out, int h, int w, int r)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    long long count = (long long)(r + 1) * (r + 1);
    long long least = 0x7fffffffffffffffll;
    int mean = 0;
    for (int q = 0; q < 4; ++q) {
        int x0 = q % 2 ? x : x - r;
        int y0 = q / 2 ? y : y - r;
        long long sum = 0, squares = 0;
        for (int dy = 0; dy <= r; ++dy)
            for (int dx = 0; dx <= r; ++dx) {
                int sx = min(max(x0 + dx, 0), w - 1);
                int sy = min(max(y0 + dy, 0), h - 1);
                int v = in[(size_t)sy * w + sx];
                sum += v;
                squares += v * v;
            }
        long long spread = count * squares - sum * sum;
        if (spread < least) {
            least = spread;
            mean = (int)((sum + count / 2) / count);
        }
    }
    out[(size_t)y * w + x] = (unsigned char)mean;
}
