// Chinese remaindering of three residue planes to 64-bit integers (mod 2^64), four a thread.
#include <cstdint>
constexpr unsigned P1 = 998244353u, P2 = 469762049u, P3 = 167772161u;
constexpr unsigned I12 = 208783132u;      // P1^-1 mod P2
constexpr unsigned I123 = 29562547u;     // (P1 P2)^-1 mod P3
constexpr unsigned P1M3 = P1 % P3;

// x * W mod P for a constant W
template <unsigned W, unsigned P>
__device__ __forceinline__ unsigned times(unsigned x)
{
    constexpr unsigned V = (unsigned)(((uint64_t)W << 32) / P);
    const unsigned t = W * x - __umulhi(V, x) * P;
    return t >= P ? t - P : t;
}

__device__ __forceinline__ unsigned long long join(unsigned a, unsigned b, unsigned c)
{
    const unsigned a2 = a % P2;
    const unsigned u = times<I12, P2>(b >= a2 ? b - a2 : b + P2 - a2);
    unsigned s = times<P1M3, P3>(u) + a % P3;
    if (s >= P3) s -= P3;
    const unsigned v = times<I123, P3>(c >= s ? c - s : c + P3 - s);
    return a + (unsigned long long)u * P1 + (unsigned long long)v * ((unsigned long long)P1 * P2);
}

extern "C" __global__ void __launch_bounds__(256)
residues(const unsigned* __restrict__ a, const unsigned* __restrict__ b, const unsigned* __restrict__ c,
         unsigned long long* __restrict__ y, int n)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        const uint4 p = *reinterpret_cast<const uint4*>(a + i);
        const uint4 q = *reinterpret_cast<const uint4*>(b + i);
        const uint4 r = *reinterpret_cast<const uint4*>(c + i);
        ulonglong2 lo, hi;
        lo.x = join(p.x, q.x, r.x);
        lo.y = join(p.y, q.y, r.y);
        hi.x = join(p.z, q.z, r.z);
        hi.y = join(p.w, q.w, r.w);
        reinterpret_cast<ulonglong2*>(y + i)[0] = lo;
        reinterpret_cast<ulonglong2*>(y + i)[1] = hi;
    } else {
        for (int k = i; k < n; k++) y[k] = join(a[k], b[k], c[k]);
    }
}
