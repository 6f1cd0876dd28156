// Greedy line breaking of justified paragraphs, two paragraphs per thread.
// A word goes on the current line if it fits behind a space; otherwise it opens the next line
// (a word that is wider than the measure stands alone).  Results: the line of every word, the number
// of lines, and the badness: the squared gaps of all lines but the last, summed.
extern "C" __global__ void galley(const int* width, const int* measure, int* line, int* lines, long long* badness,
                                  int paras, int words, int space)
{
    const int step = gridDim.x * blockDim.x;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x + half * step;
    if (p >= paras) return;
    const int* row = width + (size_t)p * words;
    int* out = line + (size_t)p * words;
    const int room = measure[p];
    int used = 0, current = 0;
    bool empty = true;
    long long bad = 0;
    for (int i = 0; i < words; ++i) {
        const int w = row[i];
        if (empty) {
            used = w;
            empty = false;
        } else if (used + space + w <= room) {
            used += space + w;
        } else {
            const long long gap = room - used;
            bad += gap * gap;
            ++current;
            used = w;
        }
        out[i] = current;
    }
    lines[p] = empty ? 0 : current + 1;
    badness[p] = bad;
    }
}
