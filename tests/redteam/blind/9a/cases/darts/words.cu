#include <cuda_runtime.h>
#include <cstdint>

constexpr int kStart = 501;

__device__ __forceinline__ int dart_score(unsigned dart)
{
    unsigned segment = dart & 31u;
    unsigned ring = dart >> 6;
    unsigned face = segment < 21u ? segment : (segment == 21u && ring != 3u ? 25u : 0u);
    return (int)(face * ring);
}

__device__ __forceinline__ bool take_visit(unsigned a, unsigned b, unsigned c, int& remaining, int& used, int& bust)
{
    int ra = remaining - dart_score(a);
    int rb = ra - dart_score(b);
    int rc = rb - dart_score(c);
    int count = ra < 2 ? 1 : rb < 2 ? 2 : 3;
    int last = count == 1 ? ra : count == 2 ? rb : rc;
    unsigned dart = count == 1 ? a : count == 2 ? b : c;
    used += count;
    if (last >= 2) {
        remaining = last;
        return false;
    }
    if (last == 0 && (dart >> 6) == 2u) {
        remaining = 0;
        return true;
    }
    ++bust;
    return false;
}

// Four visits from three 32-bit words where the row is aligned, single bytes otherwise and for the end.
__global__ void darts(const uint8_t* __restrict__ darts_in, int* __restrict__ thrown, int* __restrict__ left,
                      int* __restrict__ busts, int players, int n)
{
    int player = blockIdx.x * blockDim.x + threadIdx.x;
    if (player >= players)
        return;
    const uint8_t* in = darts_in + (size_t)player * n;
    int remaining = kStart, used = 0, bust = 0, t = 0;
    bool won = false;
    if (((uintptr_t)in & 3) == 0) {
        for (; t + 12 <= n && !won; t += 12) {
            const unsigned* w = (const unsigned*)(in + t);
            unsigned p = w[0], q = w[1], r = w[2];
            won = take_visit(p & 255u, (p >> 8) & 255u, (p >> 16) & 255u, remaining, used, bust) ||
                  take_visit(p >> 24, q & 255u, (q >> 8) & 255u, remaining, used, bust) ||
                  take_visit((q >> 16) & 255u, q >> 24, r & 255u, remaining, used, bust) ||
                  take_visit((r >> 8) & 255u, (r >> 16) & 255u, r >> 24, remaining, used, bust);
        }
    }
    for (; t + 3 <= n && !won; t += 3)
        won = take_visit(in[t], in[t + 1], in[t + 2], remaining, used, bust);
    if (!won && t < n) {
        // one or two darts of the last visit: a miss fills it up and is not counted
        unsigned a = in[t], b = t + 1 < n ? in[t + 1] : 0u;
        int before = used;
        int lost = bust;
        won = take_visit(a, b, 0u, remaining, used, bust);
        if (!won && bust == lost)
            used = before + (n - t);
    }
    thrown[player] = used;
    left[player] = remaining;
    busts[player] = bust;
}
