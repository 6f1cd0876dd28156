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
    // a rule of which no fact came for four rounds is looked at no more
    unsigned recent[4] = {~0u, ~0u, ~0u, ~0u};
    for (unsigned round = 0;; ++round) {
        unsigned before = facts, alive = recent[0] | recent[1] | recent[2] | recent[3];
        for (int r = 0; r < m; ++r) {
            unsigned need = 1u << a[at + r] | 1u << b[at + r];
            if (!(need & (alive | ~before))) continue;
            if ((facts & need) == need) facts |= 1u << h[at + r];
        }
        recent[round & 3] = facts & ~before;
        if (facts == before) break;
    }
    closure[c] = (int)facts;
    fresh[c] = __popc(facts & ~start);
}
