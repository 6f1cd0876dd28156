// Pro-rata matching: the quantity on offer in every book is shared among its resting orders in proportion to their
// size, rounded down; the units left over by the rounding go one each to the orders (of at least one unit) in the
// order of time. What no order wants is reported as spare. Half a warp per book.

__device__ __forceinline__ long long warp_total(long long v, unsigned team)
{
    for (int step = 8; step > 0; step >>= 1) v += __shfl_xor_sync(team, v, step);
    return v;
}

extern "C" __global__ void prorata(const long long* size, const long long* offer, long long* fill, long long* spare,
                                   int books, int orders)
{
    const int lane = threadIdx.x & 15;
    const int shift = threadIdx.x & 16;
    const unsigned team = 0xffffu << shift;
    const long long book = (long long)blockIdx.x * 8 + (threadIdx.x >> 4);
    if (book >= books) return;
    const long long* q = size + book * orders;
    long long* f = fill + book * orders;
    long long wanted = 0;
    for (int j = lane; j < orders; j += 16) wanted += q[j];
    wanted = warp_total(wanted, team);
    const long long there = offer[book];
    if (lane == 0) spare[book] = there > wanted ? there - wanted : 0;
    if (there >= wanted) {
        for (int j = lane; j < orders; j += 16) f[j] = q[j];
        return;
    }
    long long given = 0;
    for (int j = lane; j < orders; j += 16) {
        const long long part = (long long)((unsigned __int128)q[j] * (unsigned __int128)there / (unsigned __int128)wanted);
        f[j] = part;
        given += part;
    }
    const int left = (int)(there - warp_total(given, team));
    int served = 0;
    for (int first = 0; first < orders && served < left; first += 16) {
        const int j = first + lane;
        const bool wants = j < orders && q[j] > 0;
        const unsigned mask = __ballot_sync(team, wants) >> shift;
        if (wants && served + __popc(mask & ((1u << lane) - 1u)) < left) f[j] += 1;
        served += __popc(mask);
    }
}
