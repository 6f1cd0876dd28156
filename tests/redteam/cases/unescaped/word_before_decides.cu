// Which characters of each line stand behind an odd number of backslashes, one bit each, the first one lowest.
// A warp takes a line and 32 words of it at a time; runs are told apart by one subtraction, from the bit that a
// run begins at. A word hands on to the next one whether it ends with an odd run.
__global__ void unescaped(const unsigned char* text, unsigned* mark, int rows, int cols) {
    int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, words = (cols + 31) / 32;
    if (r >= rows) return;
    const unsigned char* line = text + (size_t)r * cols;
    unsigned carry = 0;
    for (int begin = 0; begin < words; begin += 32) {
        int many = min(32, words - begin);
        unsigned slashes = 0;
        for (int w = 0; w < many; ++w) {
            int c = 32 * (begin + w) + lane;
            unsigned votes = __ballot_sync(0xffffffffu, c < cols && line[c] == 92);
            if (lane == w) slashes = votes;
        }
        unsigned odd = __clz(~slashes) & 1, behind = __shfl_up_sync(0xffffffffu, odd, 1);
        if (lane == 0) behind = carry;
        unsigned escapes = slashes & ~behind, follows = escapes << 1;
        unsigned code = ((follows | 0xaaaaaaaau) - escapes) ^ 0xaaaaaaaau;
        unsigned bits = code ^ (slashes | behind);
        if (lane < many) {
            int left = cols - 32 * (begin + lane);
            mark[(size_t)r * words + begin + lane] = left < 32 ? bits & ((1u << left) - 1u) : bits;
        }
        carry = __shfl_sync(0xffffffffu, odd, 31);
    }
}
