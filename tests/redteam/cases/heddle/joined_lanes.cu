// A warp per end: every lane takes a stretch of picks (at least 64), and the stretches are
// joined pairwise: best float, float at the head, float at the tail.
struct Stretch {
    int first;   // pick at which it begins
    int len;     // picks in it
    int head;    // run at its beginning
    int tail;    // run at its end
    int best, at;
    int up0, up1;
};

static __device__ __forceinline__ Stretch join(const Stretch& a, const Stretch& b)
{
    if (a.len == 0)
        return b;
    if (b.len == 0)
        return a;
    Stretch c = a;
    bool same = a.up1 == b.up0;
    c.len = a.len + b.len;
    c.up1 = b.up1;
    if (same && a.head == a.len)
        c.head = a.len + b.head;
    c.tail = b.tail;
    if (same && b.tail == b.len)
        c.tail = a.tail + b.len;
    if (same && a.tail + b.head > c.best) {
        c.best = a.tail + b.head;
        c.at = b.first - a.tail;
    }
    if (b.best > c.best) {
        c.best = b.best;
        c.at = b.at;
    }
    return c;
}

extern "C" __global__ void heddle(const int* threading, const int* treadling, const int* tieup,
                                  int* longest, int* begin, int ends, int picks)
{
    int e = blockIdx.x * 8 + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (e >= ends)
        return;
    int shaft = threading[e];
    int each = max(64, (picks + 31) / 32);
    Stretch m;
    m.first = min(picks, lane * each);
    m.len = min(picks, m.first + each) - m.first;
    m.head = m.tail = m.best = m.at = 0;
    m.up0 = m.up1 = -1;
    for (int k = 0; k < m.len; k++) {
        int up = (tieup[treadling[m.first + k]] >> shaft) & 1;
        m.tail = up == m.up1 ? m.tail + 1 : 1;
        m.up1 = up;
        if (k == 0)
            m.up0 = up;
        if (m.tail == k + 1)
            m.head = k + 1;
        if (m.tail > m.best) {
            m.best = m.tail;
            m.at = m.first + k + 1 - m.tail;
        }
    }
    __syncwarp();
    for (int o = 1; o < 32; o <<= 1) {
        Stretch b;
        b.first = __shfl_down_sync(0xffffffffu, m.first, o);
        b.len = __shfl_down_sync(0xffffffffu, m.len, o);
        b.head = __shfl_down_sync(0xffffffffu, m.head, o);
        b.tail = __shfl_down_sync(0xffffffffu, m.tail, o);
        b.best = __shfl_down_sync(0xffffffffu, m.best, o);
        b.at = __shfl_down_sync(0xffffffffu, m.at, o);
        b.up0 = __shfl_down_sync(0xffffffffu, m.up0, o);
        b.up1 = __shfl_down_sync(0xffffffffu, m.up1, o);
        if ((lane & (2 * o - 1)) == 0)
            m = join(m, b);
    }
    if (lane == 0) {
        longest[e] = m.best;
        begin[e] = m.at;
    }
}
