// Constant false alarm rate: a cell of a pulse is a hit where its power is above alpha/256 of the mean of `train` cells
// on either side, of which the next `guard` are left out; cells past the ends are not counted. Each pulse counts its hits,
// and keeps the strongest with the place of the first such cell, as power * 2^32 + (2^32 - 1 - place).
extern "C" __global__ void cfar(const unsigned short* power, unsigned char* hit, int* count, unsigned long long* peak,
                                int cells, int train, int guard, int alpha) {
    int i = blockIdx.x * 256 + threadIdx.x, pulse = blockIdx.y;
    if (i >= cells) return;
    const unsigned short* p = power + (size_t)pulse * cells;
    long long sum = 0, n = 0;
    for (int k = guard + 1; k <= guard + train; ++k) {
        if (i - k >= 0 && i - k < cells) sum += p[i - k], ++n;
        if (i + k >= 0 && i + k < cells) sum += p[i + k], ++n;
    }
    bool found = n > 0 && p[i] * n * 256 > alpha * sum;
    hit[(size_t)pulse * cells + i] = found;
    if (found) {
        atomicAdd(&count[pulse], 1);
        atomicMax(&peak[pulse], (unsigned long long)p[i] << 32 | (0xffffffffu - i));
    }
}
