// What follows from 29 facts by m rules "a and b give h", for every case: the facts, and how many are new.
__global__ void inference(const int* __restrict__ known, const int* __restrict__ a,
                          const int* __restrict__ b, const int* __restrict__ h,
                          int* __restrict__ closure, int* __restrict__ fresh, int cases, int m)
{
    int c = blockIdx.x * blockDim.y + threadIdx.y;
    if (c >= cases) return;
    const size_t at = (size_t)c * m;
    const unsigned start = (unsigned)known[c];
    unsigned facts = start;
    for (bool more = true; more;) {
        unsigned mine = 0;
        for (int r = threadIdx.x; r < m; r += 32) {
            unsigned need = 1u << a[at + r] | 1u << b[at + r];
            if ((facts & need) == need) mine |= 1u << h[at + r];
        }
        more = __reduce_add_sync(~0u, mine & ~facts) != 0;
        facts |= __reduce_or_sync(~0u, mine);
    }
    if (threadIdx.x) return;
    closure[c] = (int)facts;
    fresh[c] = __popc(facts & ~start);
}
