// |a - b| and the sign of a - b for long numbers in base 10^9: a warp per number, a limb per lane.
// Whether a limb is borrowed from is decided by the nearest lower limb that differs, so that no lane waits for another.

extern "C" __global__ void bigdiff(const int* a, const int* b, int* r, int* sign, int count, int limbs) {
    const unsigned all = 0xffffffffu;
    int i = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (i >= count) return;
    const int* x = a + (size_t)i * limbs;
    const int* y = b + (size_t)i * limbs;
    int* out = r + (size_t)i * limbs;

    int order = 0;
    for (int first = (limbs - 1) & ~31; first >= 0; first -= 32) {
        int l = first + lane;
        int u = l < limbs ? x[l] : 0;
        int v = l < limbs ? y[l] : 0;
        unsigned above = __ballot_sync(all, u > v);
        unsigned below = __ballot_sync(all, u < v);
        if (above != below) {
            order = above > below ? 1 : -1;
            break;
        }
    }

    const int* big = order < 0 ? y : x;
    const int* small = order < 0 ? x : y;
    for (int l = lane; l < limbs; l += 32) {
        int borrow = 0;
        for (int back = 1; back <= min(l, 32); ++back) {
            int u = big[l - back], v = small[l - back];
            if (u != v) {
                borrow = u < v;
                break;
            }
        }
        int d = big[l] - small[l] - borrow;
        if (d < 0) d += 1000000000;
        out[l] = d;
    }
    if (lane == 0) sign[i] = order;
}
