// Which characters of each line stand behind an odd number of backslashes, one bit each, the first one lowest.
// A warp takes a line, word by word: each lane counts the backslashes right before it in the word's votes, and
// goes on with what came before the word where there is nothing else.
__global__ void unescaped(const unsigned char* text, unsigned* mark, int rows, int cols) {
    int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, words = (cols + 31) / 32;
    if (r >= rows) return;
    const unsigned char* line = text + (size_t)r * cols;
    unsigned carry = 0;
    for (int w = 0; w < words; ++w) {
        int c = 32 * w + lane;
        unsigned slashes = __ballot_sync(0xffffffffu, c < cols && line[c] == 92);
        int run = lane ? __clz(~(slashes << (32 - lane))) : 0;
        unsigned behind = (run + (run == lane ? carry : 0u)) & 1u;
        unsigned bits = __ballot_sync(0xffffffffu, c < cols && behind);
        if (lane == 0) mark[(size_t)r * words + w] = bits;
        int end = __clz(~slashes);
        carry = (end + (end == 32 ? carry : 0u)) & 1u;
    }
}
