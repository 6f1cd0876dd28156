// Brackets in rows of text: 1 opens, 2 closes, anything else is plain text.
// partner: the place of the bracket that belongs to this one, -1 for plain text and brackets that stay alone.
// depth: how many brackets are open after this place; a close with nothing open changes nothing.
// Up to 4096 places: a local stack of 16-bit places. A pair takes two places, so that half as many entries do.
#include <cstdint>

extern "C" __global__ void brackets(const uint8_t* text, int* partner, int* depth, int rows, int len) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const uint8_t* t = text + (size_t)row * len;
    int* p = partner + (size_t)row * len;
    int* deep = depth + (size_t)row * len;

    if (len <= 4096) {
        short stack[2048];
        int d = 0;
        for (int i = 0; i < len; ++i) {
            int c = t[i], mate = -1;
            if (c == 1) {
                if (d < 2048) stack[d] = (short)i;
                ++d;
            } else if (c == 2 && d > 0) {
                --d;
                if (d < 2048) {
                    mate = stack[d];
                    p[mate] = i;
                }
            }
            p[i] = mate;
            deep[i] = d;
        }
        return;
    }

    int top = -1, d = 0;
    for (int i = 0; i < len; ++i) {
        int c = t[i], mate = -1;
        if (c == 1) {
            mate = top;             // until it is closed, an open bracket points to the one around it
            top = i;
            ++d;
        } else if (c == 2 && d > 0) {
            mate = top;
            top = p[mate];
            p[mate] = i;
            --d;
        }
        p[i] = mate;
        deep[i] = d;
    }
    while (top >= 0) {
        int next = p[top];
        p[top] = -1;
        top = next;
    }
}
