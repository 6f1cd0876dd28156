// Sums of long whole numbers, the lowest 32 bits first in each row, and what is carried out of the last ones.
// A warp takes a row, 32 limbs at a time: those that carry and those that hand a carry on are two words, and
// the addition of those words carries through them as the limbs would.
__global__ void plus(const unsigned* a, const unsigned* b, unsigned* sum, int* carried, int rows, int limbs) {
    int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    size_t first = (size_t)r * limbs;
    unsigned in = 0;
    for (int begin = 0; begin < limbs; begin += 32) {
        int many = min(32, limbs - begin);
        unsigned x = 0, y = 0;
        if (lane < many) {
            x = a[first + begin + lane];
            y = b[first + begin + lane];
        }
        unsigned s = x + y;
        unsigned makes = __ballot_sync(0xffffffffu, s < x), hands = __ballot_sync(0xffffffffu, s == 0xffffffffu);
        unsigned gets = ((makes << 1 | in) + hands) ^ hands;
        if (lane < many) sum[first + begin + lane] = s + (gets >> lane & 1u);
        in = many < 32 ? gets >> many & 1u : makes >> 31;
    }
    if (lane == 0) carried[r] = (int)in;
}
