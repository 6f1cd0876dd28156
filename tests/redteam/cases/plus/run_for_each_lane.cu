// Sums of long whole numbers, the lowest 32 bits first in each row, and what is carried out of the last ones.
// A warp takes a row and a lane a run of its limbs: at first only what the run carries without and with a carry
// before it, then the limbs.
__global__ void plus(const unsigned* a, const unsigned* b, unsigned* sum, int* carried, int rows, int limbs) {
    int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    size_t first = (size_t)r * limbs;
    int part = (limbs + 31) / 32, begin = min(limbs, lane * part), end = min(limbs, begin + part);
    unsigned without = 0, with = 1;
    for (int i = begin; i < end; ++i) {
        unsigned x = a[first + i], s = x + b[first + i];
        bool makes = s < x, hands = s == 0xffffffffu;
        without = makes || (hands && without);
        with = makes || (hands && with);
    }
    unsigned makes = __ballot_sync(0xffffffffu, without), hands = __ballot_sync(0xffffffffu, with && !without);
    unsigned in = 0;
    for (int l = 0; l < lane; ++l) in = makes >> l & 1u || (hands >> l & 1u && in);
    for (int i = begin; i < end; ++i) {
        unsigned x = a[first + i], s = x + b[first + i], t = s + in;
        in = s < x || t < s;
        sum[first + i] = t;
    }
    if (lane == 31) carried[r] = (int)in;
}
