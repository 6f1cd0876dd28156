// Greedy line breaking of justified paragraphs, one warp per paragraph.
// A word goes on the current line if it fits behind a space; otherwise it opens the next line
// (a word that is wider than the measure stands alone).  Results: the line of every word, the number
// of lines, and the badness: the squared gaps of all lines but the last, summed.
// The lanes look ahead of the start of a line and vote for its end.
extern "C" __global__ void galley(const int* width, const int* measure, int* line, int* lines, long long* badness,
                                  int paras, int words, int space)
{
    const int lane = threadIdx.x & 31;
    const int p = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (p >= paras) return;
    const int* row = width + (size_t)p * words;
    int* out = line + (size_t)p * words;
    const int room = measure[p];
    int current = 0;
    long long bad = 0;
    for (int first = 0; first < words;) {
        const int i = first + lane;
        int run = i < words ? row[i] + space : 0;
        for (int d = 1; d < 32; d <<= 1) {
            const int other = __shfl_up_sync(0xffffffffu, run, d);
            if (lane >= d) run += other;
        }
        const unsigned fits = __ballot_sync(0xffffffffu, i < words && run - space <= room);
        const int take = __popc(fits);
        if (lane < take) out[i] = current;
        const int used = __shfl_sync(0xffffffffu, run, take - 1) - space;
        first += take;
        ++current;
        if (first < words) {
            const long long gap = room - used;
            bad += gap * gap;
        }
    }
    if (lane == 0) { lines[p] = current; badness[p] = bad; }
}
