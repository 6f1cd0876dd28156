// What follows from 29 facts by m rules "a and b give h", for every case: the facts, and how many are new.
__global__ void inference(const int* __restrict__ known, const int* __restrict__ a,
                          const int* __restrict__ b, const int* __restrict__ h,
                          int* __restrict__ closure, int* __restrict__ fresh, int cases, int m)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cases) return;
    const size_t at = (size_t)c * m;
    const unsigned start = (unsigned)known[c];
    unsigned facts = start;
    // each fact is looked up once, in the order in which it was found
    for (int r = 0; r < m; ++r) {
        unsigned need = 1u << a[at + r] | 1u << b[at + r];
        if ((start & need) == need) facts |= 1u << h[at + r];
    }
    unsigned char queue[16];
    unsigned head = 0, tail = 0;
    for (unsigned left = facts & ~start; left; left &= left - 1) queue[tail++ & 15] = (unsigned char)(__ffs(left) - 1);
    while (head != tail) {
        unsigned fact = 1u << queue[head++ & 15];
        for (int r = 0; r < m; ++r) {
            unsigned need = 1u << a[at + r] | 1u << b[at + r], give = 1u << h[at + r];
            if ((need & fact) && (facts & need) == need && !(facts & give)) {
                facts |= give;
                queue[tail++ & 15] = (unsigned char)h[at + r];
            }
        }
    }
    closure[c] = (int)facts;
    fresh[c] = __popc(facts & ~start);
}
