// Hands of 17 tiles (three suits of nine ranks, then seven honours): with how many pairs the hand is
// five triplets or runs and a pair, and the first such pair, or -1.
__global__ void mahjong(const int* __restrict__ tiles, int* __restrict__ ways, int* __restrict__ pair, int hands)
{
    int h = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= hands) return;
    signed char count[34], left[36];
    for (int i = 0; i < 34; ++i) count[i] = 0;
    for (int k = 0; k < 17; ++k) ++count[tiles[(size_t)h * 17 + k]];
    int found = 0, first = -1;
    for (int p = 0; p < 34; ++p) {
        if (count[p] < 2) continue;
        for (int i = 0; i < 34; ++i) left[i] = count[i];
        left[p] -= 2;
        bool good = true;
        for (int i = 0; i < 34 && good; ++i) {
            int rest = left[i] % 3;
            if (i < 27 && i % 9 < 7) {
                left[i + 1] -= rest;
                left[i + 2] -= rest;
                good = left[i + 1] >= 0 && left[i + 2] >= 0;
            } else {
                good = rest == 0;
            }
        }
        if (good) {
            if (first < 0) first = p;
            if (++found == 3) break;
        }
    }
    ways[h] = found;
    pair[h] = first;
}
