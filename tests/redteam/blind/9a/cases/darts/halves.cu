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

// Both counters in one register: darts in the low half, busts in the high half.
__global__ void darts(const uint8_t* __restrict__ darts_in, int* __restrict__ thrown, int* __restrict__ left,
                      int* __restrict__ busts, int players, int n)
{
    int player = blockIdx.x * blockDim.x + threadIdx.x;
    if (player >= players)
        return;
    const uint8_t* in = darts_in + (size_t)player * n;
    int remaining = kStart;
    unsigned counts = 0;
    for (int visit = 0; visit < n && remaining > 0; visit += 3) {
        int now = remaining;
        int end = min(3, n - visit);
        for (int k = 0; k < end; ++k) {
            unsigned dart = in[visit + k];
            now -= dart_score(dart);
            if (now < 2) {
                bool won = now == 0 && (dart >> 6) == 2u;
                counts += (won ? 0u : 0x10000u) + (unsigned)k + 1u;
                now = won ? 0 : remaining;
                end = 0;
            }
        }
        counts += (unsigned)end;
        remaining = now;
    }
    thrown[player] = (int)(counts & 0xffffu);
    left[player] = remaining;
    busts[player] = (int)(counts >> 16);
}
