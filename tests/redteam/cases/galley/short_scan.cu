// Greedy line breaking of justified paragraphs, one warp per paragraph.
// A word goes on the current line if it fits behind a space; otherwise it opens the next line
// (a word that is wider than the measure stands alone).  Results: the line of every word, the number
// of lines, and the badness: the squared gaps of all lines but the last, summed.
// The lanes look at the next 32 words at once; running widths are kept in 16 bits.
extern "C" __global__ void galley(const int* width, const int* measure, int* line, int* lines, long long* badness,
                                  int paras, int words, int space)
{
    const int lane = threadIdx.x & 31;
    const int p = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (p >= paras) return;
    const int* row = width + (size_t)p * words;
    int* out = line + (size_t)p * words;
    const int room = measure[p];
    int current = 0, carry = 0;                   // carry: width (with spaces) already on the line
    long long bad = 0;
    for (int first = 0; first < words;) {
        const int i = first + lane;
        unsigned short run = i < words ? (unsigned short)(row[i] + space) : (unsigned short)0;
        for (int d = 1; d < 32; d <<= 1) {
            const unsigned other = __shfl_up_sync(0xffffffffu, (unsigned)run, d);
            if (lane >= d) run = (unsigned short)(run + other);
        }
        const bool over = i < words && carry + (int)run - space > room;
        const unsigned stop = __ballot_sync(0xffffffffu, over);
        const int take = stop ? __ffs(stop) - 1 : 32;
        if (lane < take && i < words) out[i] = current;
        const int upto = take > 0 ? carry + (int)__shfl_sync(0xffffffffu, (unsigned)run, take - 1) : carry;
        if (stop) {
            const long long gap = room - (upto - space);
            bad += gap * gap;
            ++current;
            carry = 0;
        } else {
            carry = upto;
        }
        first += take;
    }
    if (lane == 0) { lines[p] = words > 0 ? current + 1 : 0; badness[p] = bad; }
}
