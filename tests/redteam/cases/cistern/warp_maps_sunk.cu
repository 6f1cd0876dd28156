// A warp per cistern. A step is the map x -> min(max(x + a, lo), hi); such maps compose to such maps,
// so 32 steps at a time are scanned. lo is kept below hi; hi sinks to the lower of the two capacities, both
// as seen from the end.
struct Map { int a, lo, hi; };

__device__ __forceinline__ Map then(Map f, Map g)
{
    Map r;
    r.a = f.a + g.a;
    r.lo = min(max(f.lo + g.a, g.lo), g.hi);
    r.hi = min(f.hi + g.a, g.hi);
    return r;
}

extern "C" __global__ void cistern(const int* flow, const int* start, const int* cap, int* level, int* spill,
                                   int rows, int steps)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (r >= rows) return;
    const int* f = flow + (size_t)r * steps;
    int* out = level + (size_t)r * steps;
    const int top = cap[r];
    int carry = start[r];
    int over = 0;
    for (int t0 = 0; t0 < steps; t0 += 32) {
        int t = t0 + lane;
        int q = t < steps ? f[t] : 0;
        Map m = { q, 0, top };
        for (int d = 1; d < 32; d <<= 1) {
            Map p;
            p.a = __shfl_up_sync(0xffffffffu, m.a, d);
            p.lo = __shfl_up_sync(0xffffffffu, m.lo, d);
            p.hi = __shfl_up_sync(0xffffffffu, m.hi, d);
            if (lane >= d) m = then(p, m);
        }
        int v = min(max(carry + m.a, m.lo), m.hi);
        int before = __shfl_up_sync(0xffffffffu, v, 1);
        if (lane == 0) before = carry;
        if (t < steps) {
            out[t] = v;
            over += max(before + q - top, 0);
        }
        carry = __shfl_sync(0xffffffffu, v, 31);
    }
    for (int d = 16; d > 0; d >>= 1) over += __shfl_xor_sync(0xffffffffu, over, d);
    if (lane == 0) spill[r] = over;
}
