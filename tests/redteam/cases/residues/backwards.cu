// Chinese remaindering of three residue planes to 64-bit integers (mod 2^64), four a thread.
#include <cstdint>
constexpr unsigned P1 = 998244353u, P2 = 469762049u, P3 = 167772161u;
constexpr unsigned I32 = 104391568u;      // P3^-1 mod P2
constexpr unsigned I321 = 575867115u;     // (P2 P3)^-1 mod P1

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
    // smallest modulus first: nothing has to be folded on the way
    const unsigned u = times<I32, P2>(b >= c ? b - c : b + P2 - c);
    unsigned s = times<P3, P1>(u) + c;
    if (s >= P1) s -= P1;
    const unsigned v = times<I321, P1>(a >= s ? a - s : a + P1 - s);
    return c + (unsigned long long)u * P3 + (unsigned long long)v * ((unsigned long long)P3 * P2);
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
