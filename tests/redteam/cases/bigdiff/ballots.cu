// |a - b| and the sign of a - b for long numbers in base 10^9: a warp per number.
// The borrows of 32 limbs are resolved at once: adding the masks of the limbs that generate a borrow
// and of those that hand one on makes the adder of the machine ripple through them.

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
        if (above != below) {           // as masks: the higher set bit decides
            order = above > below ? 1 : -1;
            break;
        }
    }

    const int* big = order < 0 ? y : x;
    const int* small = order < 0 ? x : y;
    unsigned carry = 0;
    for (int first = 0; first < limbs; first += 32) {
        int l = first + lane;
        int u = l < limbs ? big[l] : 1;
        int v = l < limbs ? small[l] : 0;
        unsigned makes = __ballot_sync(all, u < v);
        unsigned hands = __ballot_sync(all, u == v);
        unsigned long long s = (unsigned long long)(makes | hands) + makes + carry;
        unsigned into = (unsigned)s ^ hands;
        carry = (unsigned)(s >> 32);
        int d = u - v - (int)((into >> lane) & 1u);
        if (d < 0) d += 1000000000;
        if (l < limbs) out[l] = d;
    }
    if (lane == 0) sign[i] = order;
}
