// At which draw a card of five by five first has a line: the earliest of its rows, columns and diagonals of which the
// last number is drawn. A warp has a card, a lane a number of it, and then a line.
__global__ void bingo(const unsigned char* card, const int* drawn, int* when, int n) {
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    if (i >= n) return;
    int lane = threadIdx.x % 32, own = lane < 25 ? drawn[card[25 * i + lane]] : 0;
    int line = min(lane, 11);
    int start = line < 5 ? 5 * line : line < 10 ? line - 5 : line == 10 ? 0 : 4;
    int step = line < 5 ? 1 : line < 10 ? 5 : line == 10 ? 6 : 4;
    int last = __shfl_sync(0xffffffffu, own, start);
    for (int k = 1; k < 5; ++k) last = max(last, __shfl_sync(0xffffffffu, own, start + k * step));
    for (int s = 16; s; s /= 2) last = min(last, __shfl_xor_sync(0xffffffffu, last, s));
    if (lane == 0) when[i] = last;
}
