// Brackets in rows of text: 1 opens, 2 closes, anything else is plain text.
// partner: the place of the bracket that belongs to this one, -1 for plain text and brackets that stay alone.
// depth: how many brackets are open after this place; a close with nothing open changes nothing.
// The outer 256 brackets are kept in a local stack; deeper ones are chained through their own places in partner.
#include <cstdint>

extern "C" __global__ void brackets(const uint8_t* text, int* partner, int* depth, int rows, int len) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const uint8_t* t = text + (size_t)row * len;
    int* p = partner + (size_t)row * len;
    int* deep = depth + (size_t)row * len;

    const int near = 256;
    int stack[near];
    int top = -1, d = 0;
    for (int i = 0; i < len; ++i) {
        int c = t[i], mate = -1;
        if (c == 1) {
            if (d < near) stack[d] = i;
            else mate = top;
            top = i;
            ++d;
        } else if (c == 2 && d > 0) {
            --d;
            mate = top;
            if (d > near) top = p[mate];
            else top = d > 0 ? stack[d - 1] : -1;
            p[mate] = i;
        }
        p[i] = mate;
        deep[i] = d;
    }
    while (d > near) {
        int next = p[top];
        p[top] = -1;
        top = next;
        --d;
    }
}
