// Greedy line breaking of justified paragraphs, one warp per paragraph.
// A word goes on the current line if it fits behind a space; otherwise it opens the next line
// (a word that is wider than the measure stands alone).  Results: the line of every word, the number
// of lines, and the badness: the squared gaps of all lines but the last, summed.
// The words' results double as scratch: they hold running widths until their line is known.
extern "C" __global__ void galley(const int* width, const int* measure, int* line, int* lines, long long* badness,
                                  int paras, int words, int space)
{
    const int lane = threadIdx.x & 31;
    const int p = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (p >= paras) return;
    const int* row = width + (size_t)p * words;
    int* out = line + (size_t)p * words;
    const int room = measure[p];
    int sum = 0;
    for (int first = 0; first < words; first += 32) {
        const int i = first + lane;
        int run = i < words ? row[i] + space : 0;
        for (int d = 1; d < 32; d <<= 1) {
            const int other = __shfl_up_sync(0xffffffffu, run, d);
            if (lane >= d) run += other;
        }
        if (i < words) out[i] = sum + run;
        sum += __shfl_sync(0xffffffffu, run, 31);
    }
    __syncwarp();

    // 200 <= width < 2600: a line holds at least `fewest` and at most `most` words (the last line aside)
    const int fewest = max(1, (room + space) / (2599 + space)), most = (room + space) / (200 + space);
    int current = 0, base = 0, first = 0;
    long long bad = 0;
    while (first < words) {
        int low = min(fewest, words - first), high = min(most, words - first);
        while (low < high) {                      // the most words that fit
            const int middle = (low + high + 1) >> 1;
            if (out[first + middle - 1] - base - space <= room) low = middle; else high = middle - 1;
        }
        const int end = out[first + low - 1];
        __syncwarp();                             // everyone has looked, the stretch may be overwritten
        for (int i = first + lane; i < first + low; i += 32) out[i] = current;
        first += low;
        if (first < words) {
            const long long gap = room - (end - base - space);
            bad += gap * gap;
        }
        base = end;
        ++current;
    }
    if (lane == 0) { lines[p] = current; badness[p] = bad; }
}
