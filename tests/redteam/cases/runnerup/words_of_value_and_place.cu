#include <climits>
// The second in each row and where it stands: of equal ones the earlier goes before the later.
// A word holds a value that is ordered as an unsigned one, and its place counted from behind; zero is none.
__global__ void runnerup(const int* x, int* value, int* place, int rows, int cols) {
    typedef unsigned long long Word;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int* mine = x + (size_t)row * cols;
    Word first = 0, second = 0;
    for (int c = lane; c < cols; c += 32) {
        Word word = (Word)((unsigned)mine[c] ^ 0x80000000u) << 32 | (0xffffffffu - c);
        second = max(second, min(first, word));
        first = max(first, word);
    }
    for (int d = 16; d; d /= 2) {
        Word other = __shfl_xor_sync(0xffffffffu, first, d), next = __shfl_xor_sync(0xffffffffu, second, d);
        second = max(min(first, other), max(second, next));
        first = max(first, other);
    }
    if (lane) return;
    value[row] = (int)((unsigned)(second >> 32) ^ 0x80000000u);
    place[row] = second ? (int)(0xffffffffu - (unsigned)second) : -1;
    if (!second) value[row] = INT_MIN;
}
