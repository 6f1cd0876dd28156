// Two neighbouring pixels per thread, read as one 32-bit word where the rows of the stack allow it.
#include <cstdint>
struct Pick { int t; unsigned a, b; };
__device__ __forceinline__ void offer(Pick& p, int t, unsigned flag, unsigned a, unsigned b)
{
    if ((flag & 6) || (a | b) == 0) return;
    if (p.t < 0 || a * p.b > p.a * b) { p.t = t; p.a = a; p.b = b; }
}
__device__ __forceinline__ float value(const Pick& p)
{
    return p.t < 0 ? 0.0f : (float)((int)p.a - (int)p.b) / (float)(p.a + p.b);
}
extern "C" __global__ void foliage(const uint16_t* nir, const uint16_t* red, const uint8_t* flags,
                                   int* when, float* index, int n, int slices)
{
    int pixel = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (pixel >= n) return;
    Pick p = {-1, 0, 0}, q = {-1, 0, 0};
    if (n % 2 == 0) {
        for (int t = 0; t < slices; ++t) {
            size_t at = (size_t)t * n + pixel;
            ushort2 a = *(const ushort2*)(nir + at), b = *(const ushort2*)(red + at);
            uchar2 f = *(const uchar2*)(flags + at);
            offer(p, t, f.x, a.x, b.x);
            offer(q, t, f.y, a.y, b.y);
        }
    } else {
        bool both = pixel + 1 < n;
        for (int t = 0; t < slices; ++t) {
            size_t at = (size_t)t * n + pixel;
            offer(p, t, flags[at], nir[at], red[at]);
            if (both) offer(q, t, flags[at + 1], nir[at + 1], red[at + 1]);
        }
    }
    when[pixel] = p.t;
    index[pixel] = value(p);
    if (pixel + 1 < n) {
        when[pixel + 1] = q.t;
        index[pixel + 1] = value(q);
    }
}
