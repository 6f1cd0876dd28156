// Greedy line breaking of justified paragraphs, two warps per paragraph.
// A word goes on the current line if it fits behind a space; otherwise it opens the next line
// (a word that is wider than the measure stands alone).  Results: the line of every word, the number
// of lines, and the badness: the squared gaps of all lines but the last, summed.
// The first warp finds the breaks and hands each line over, the second writes it out meanwhile.
extern "C" __global__ void galley(const int* width, const int* measure, int* line, int* lines, long long* badness,
                                  int paras, int words, int space)
{
    __shared__ int from[2], upto[2];
    const int p = blockIdx.x;
    if (p >= paras) return;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const int* row = width + (size_t)p * words;
    int* out = line + (size_t)p * words;
    const int room = measure[p];
    int current = 0, begin = 0;
    long long bad = 0;
    while (true) {
        const int turn = current & 1;
        if (warp == 0) {
            int end = begin, held = -space;       // grow the line by up to 32 words a round
            while (end < words) {
                const int i = end + lane;
                int run = i < words ? row[i] + space : 0;
                for (int d = 1; d < 32; d <<= 1) {
                    const int other = __shfl_up_sync(0xffffffffu, run, d);
                    if (lane >= d) run += other;
                }
                const unsigned fits = __ballot_sync(0xffffffffu, i < words && held + run <= room);
                const int take = __popc(fits);
                if (take > 0) held += __shfl_sync(0xffffffffu, run, take - 1);
                end += take;
                if (take < 32) break;
            }
            if (lane == 0) { from[turn] = begin; upto[turn] = end; }
            if (end < words) {
                const long long gap = room - held;
                bad += gap * gap;
            }
            begin = end;
        }
        __syncthreads();
        const int a = from[turn], e = upto[turn];
        if (warp == 1)
            for (int i = a + lane; i < e; i += 32) out[i] = current;
        ++current;
        if (e >= words) break;
    }
    if (threadIdx.x == 0) { lines[p] = words > 0 ? current : 0; badness[p] = bad; }
}
