// At which draw a card of five by five first has a line: the earliest of its rows, columns and diagonals of which the
// last number is drawn. A thread has a card.
__global__ void bingo(const unsigned char* card, const int* drawn, int* when, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* c = card + 25 * i;
    int first = 0x7fffffff;
    for (int line = 0; line < 12; ++line) {
        int start = line < 5 ? 5 * line : line < 10 ? line - 5 : line == 10 ? 0 : 4;
        int step = line < 5 ? 1 : line < 10 ? 5 : line == 10 ? 6 : 4;
        int last = drawn[c[start]];
        for (int k = 1; k < 5; ++k) last = max(last, drawn[c[start + k * step]]);
        first = min(first, last);
    }
    when[i] = first;
}
