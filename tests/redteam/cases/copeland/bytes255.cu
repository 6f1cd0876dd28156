// Pairwise wins of an election: on how many of the v ballots candidate i is ranked before candidate j.
// rank[c * v + b] is the place that ballot b gives to candidate c; equal places win for neither.
// One warp per pair. Where rows begin at whole words, four ballots are compared at once and counted in
// the four bytes of a word, which are added up before they can run full.
extern "C" __global__ void copeland(const unsigned char* rank, int* wins, int v, int m)
{
    int i = blockIdx.y;
    int j = blockIdx.x;
    const unsigned char* mine = rank + i * v;
    const unsigned char* theirs = rank + j * v;

    unsigned count = 0;
    if ((v & 3) == 0) {
        const unsigned* mine4 = reinterpret_cast<const unsigned*>(mine);
        const unsigned* theirs4 = reinterpret_cast<const unsigned*>(theirs);
        int words = v >> 2;
        for (int k = threadIdx.x; k < words;) {
            unsigned four = 0;
            for (int turn = 0; turn < 255 && k < words; turn++, k += 32)
                four += __vsetltu4(mine4[k], theirs4[k]);
            count = __dp4a(four, 0x01010101u, count);
        }
    } else {
        for (int b = threadIdx.x; b < v; b += 32)
            count += mine[b] < theirs[b] ? 1 : 0;
    }

    for (int step = 16; step > 0; step >>= 1)
        count += __shfl_down_sync(0xffffffffu, count, step);
    if (threadIdx.x == 0)
        wins[i * m + j] = (int)count;
}
