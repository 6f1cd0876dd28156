// Pro-rata matching: the quantity on offer in every book is shared among its resting orders in proportion to their
// size, rounded down; the units left over by the rounding go one each to the orders (of at least one unit) in the
// order of time. What no order wants is reported as spare. One warp per book.

__device__ __forceinline__ long long warp_total(long long v)
{
    for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

extern "C" __global__ void prorata(const long long* size, const long long* offer, long long* fill, long long* spare,
                                   int books, int orders)
{
    const int lane = threadIdx.x & 31;
    const long long book = (long long)blockIdx.x * 4 + (threadIdx.x >> 5);
    if (book >= books) return;
    const long long* q = size + book * orders;
    long long* f = fill + book * orders;
    long long wanted = 0;
    for (int j = lane; j < orders; j += 32) wanted += q[j];
    wanted = warp_total(wanted);
    const long long there = offer[book];
    if (lane == 0) spare[book] = there > wanted ? there - wanted : 0;
    // an exact match comes out of the division by itself
    if (there > wanted) {
        for (int j = lane; j < orders; j += 32) f[j] = q[j];
        return;
    }
    long long given = 0;
    for (int j = lane; j < orders; j += 32) {
        long long part = (long long)((double)q[j] * (double)there / (double)wanted);
        // the remainder is small: its low 64 bits are all of it
        const long long over = (long long)((unsigned long long)q[j] * (unsigned long long)there
                                           - (unsigned long long)part * (unsigned long long)wanted);
        if (over < 0)
            --part;
        else if (over >= wanted)
            ++part;
        f[j] = part;
        given += part;
    }
    const int left = (int)(there - warp_total(given));
    int served = 0;
    for (int first = 0; first < orders && served < left; first += 32) {
        const int j = first + lane;
        const bool wants = j < orders && q[j] > 0;
        const unsigned mask = __ballot_sync(0xffffffffu, wants);
        if (wants && served + __popc(mask & ((1u << lane) - 1u)) < left) f[j] += 1;
        served += __popc(mask);
    }
}
