// Brackets in rows of text: 1 opens, 2 closes, anything else is plain text.
// partner: the place of the bracket that belongs to this one, -1 for plain text and brackets that stay alone.
// depth: how many brackets are open after this place; a close with nothing open changes nothing.
// No stack: a close looks to the left and leaps over the pairs that are complete already.
#include <cstdint>

extern "C" __global__ void brackets(const uint8_t* text, int* partner, int* depth, int rows, int len) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const uint8_t* t = text + (size_t)row * len;
    int* p = partner + (size_t)row * len;
    int* deep = depth + (size_t)row * len;

    int d = 0;
    for (int i = 0; i < len; ++i) {
        int c = t[i], mate = -1;
        if (c == 1) {
            ++d;
        } else if (c == 2 && d > 0) {
            --d;
            mate = i - 1;
            while (t[mate] != 1) mate = p[mate] >= 0 ? p[mate] - 1 : mate - 1;
            p[mate] = i;
        }
        p[i] = mate;
        deep[i] = d;
    }
}
