// |a - b| and the sign of a - b for long numbers in base 10^9: a warp per number, a run of limbs per lane.
// A run is worth what its highest limb that differs is worth: -1 (a below b), 1 (a above b), 0 (all equal).

extern "C" __global__ void bigdiff(const int* a, const int* b, int* r, int* sign, int count, int limbs) {
    const unsigned all = 0xffffffffu;
    int i = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (i >= count) return;
    const int* x = a + (size_t)i * limbs;
    const int* y = b + (size_t)i * limbs;
    int* out = r + (size_t)i * limbs;

    int per = (limbs + 31) / 32;
    int lo = min(lane * per, limbs), hi = min(lo + per, limbs);
    int state = 0;
    for (int l = hi - 1; l >= lo && state == 0; --l) {
        state = (x[l] > y[l]) - (x[l] < y[l]);
    }

    // inclusive: the state of everything up to and with this lane
    int scan = state;
    for (int step = 1; step < 32; step *= 2) {
        int lower = __shfl_up_sync(all, scan, step);
        if (lane >= step && scan == 0) scan = lower;
    }
    int order = __shfl_sync(all, scan, 31);
    int under = __shfl_up_sync(all, scan, 1);
    int borrow = lane > 0 && under * order < 0;   // below this lane the larger number is the smaller one

    const int* big = order < 0 ? y : x;
    const int* small = order < 0 ? x : y;
    for (int l = lo; l < hi; ++l) {
        int d = big[l] - small[l] - borrow;
        borrow = d < 0;
        if (borrow) d += 1000000000;
        out[l] = d;
    }
    if (lane == 0) sign[i] = order;
}
