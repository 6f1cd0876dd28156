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
    // sweeps forwards and backwards in turn: chains of either order close at once
    bool more = true;
    for (int sweep = 0; sweep < 14 && more; ++sweep) {
        more = false;
        for (int k = 0; k < m; ++k) {
            int r = sweep & 1 ? m - 1 - k : k;
            unsigned need = 1u << a[at + r] | 1u << b[at + r], give = 1u << h[at + r];
            if ((facts & need) == need && !(facts & give)) {
                facts |= give;
                more = true;
            }
        }
    }
    closure[c] = (int)facts;
    fresh[c] = __popc(facts & ~start);
}
