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

// A visit at once: its darts only matter one by one where the whole visit would leave less than two.
__global__ void darts(const uint8_t* __restrict__ darts_in, int* __restrict__ thrown, int* __restrict__ left,
                      int* __restrict__ busts, int players, int n)
{
    int player = blockIdx.x * blockDim.x + threadIdx.x;
    if (player >= players)
        return;
    const uint8_t* in = darts_in + (size_t)player * n;
    int remaining = kStart, used = 0, bust = 0;
    int visit = 0;
    for (; visit + 3 <= n; visit += 3) {
        unsigned a = in[visit], b = in[visit + 1], c = in[visit + 2];
        int sa = dart_score(a), sb = dart_score(b), sc = dart_score(c);
        int after = remaining - (sa + sb + sc);
        if (after >= 2) {
            remaining = after;
            used += 3;
            continue;
        }
        int ra = remaining - sa, rb = ra - sb;
        bool stopA = ra < 2, stopB = rb < 2;
        int last = stopA ? ra : stopB ? rb : after;
        unsigned dart = stopA ? a : stopB ? b : c;
        used += stopA ? 1 : stopB ? 2 : 3;
        if (last == 0 && (dart >> 6) == 2u) {
            remaining = 0;
            break;
        }
        ++bust;
    }
    if (remaining > 0 && visit < n) {
        int now = remaining;
        for (int t = visit; t < n; ++t) {
            unsigned dart = in[t];
            now -= dart_score(dart);
            ++used;
            if (now < 2) {
                bool won = now == 0 && (dart >> 6) == 2u;
                bust += !won;
                now = won ? 0 : remaining;
                break;
            }
        }
        remaining = now;
    }
    thrown[player] = used;
    left[player] = remaining;
    busts[player] = bust;
}
