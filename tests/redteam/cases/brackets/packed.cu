// Brackets in rows of text: 1 opens, 2 closes, anything else is plain text.
// partner: the place of the bracket that belongs to this one, -1 for plain text and brackets that stay alone.
// depth: how many brackets are open after this place; a close with nothing open changes nothing.
// A block per row, a stretch of the row per thread, scanned as packed pairs in one word of shared memory;
// a close looks to the left for its partner.
#include <cstdint>

extern "C" __global__ void brackets(const uint8_t* text, int* partner, int* depth, int rows, int len) {
    __shared__ short2 spans[256];
    int row = blockIdx.x, tid = threadIdx.x;
    const uint8_t* t = text + (size_t)row * len;
    int* p = partner + (size_t)row * len;
    int* deep = depth + (size_t)row * len;
    int per = (len + 255) / 256;
    int lo = min(tid * per, len), hi = min(lo + per, len);

    // a stretch turns depth x into max(x + rise, least)
    int rise = 0, least = 0;
    for (int i = lo; i < hi; ++i) {
        int c = t[i];
        if (c == 1) {
            ++rise;
            ++least;
        } else if (c == 2) {
            --rise;
            least = max(least - 1, 0);
        }
        if (c != 2) p[i] = -1;
    }
    spans[tid] = make_short2((short)rise, (short)least);
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int r = 0, l = 0;
        if (tid >= step) {
            short2 before = spans[tid - step];
            r = before.x;
            l = before.y;
        }
        __syncthreads();
        if (tid >= step) {
            least = max(l + rise, least);
            rise += r;
            spans[tid] = make_short2((short)rise, (short)least);
        }
        __syncthreads();
    }

    int d = 0;
    if (tid > 0) {
        short2 before = spans[tid - 1];
        d = max(before.x, before.y);
    }
    for (int i = lo; i < hi; ++i) {
        int c = t[i];
        if (c == 1) ++d;
        if (c == 2) {
            int mate = -1;
            if (d > 0) {
                --d;
                mate = i;
                for (int open = 1; open > 0;) {
                    --mate;
                    open += (t[mate] == 2) - (t[mate] == 1);
                }
                p[mate] = i;
            }
            p[i] = mate;
        }
        deep[i] = d;
    }
}
