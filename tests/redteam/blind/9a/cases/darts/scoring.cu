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

// 170 is the highest checkout: above it no visit can end the leg, so the three darts are just taken off.
__global__ void darts(const uint8_t* __restrict__ darts_in, int* __restrict__ thrown, int* __restrict__ left,
                      int* __restrict__ busts, int players, int n)
{
    int player = blockIdx.x * blockDim.x + threadIdx.x;
    if (player >= players)
        return;
    const uint8_t* in = darts_in + (size_t)player * n;
    int remaining = kStart, used = 0, bust = 0, t = 0;
    // scoring phase
    while (remaining > 170 && t + 3 <= n) {
        remaining -= dart_score(in[t]) + dart_score(in[t + 1]) + dart_score(in[t + 2]);
        t += 3;
        used += 3;
    }
    // finishing phase
    for (; t < n && remaining > 0; t += 3) {
        int before = remaining;
        for (int k = 0; k < 3 && t + k < n; ++k) {
            unsigned dart = in[t + k];
            int after = remaining - dart_score(dart);
            ++used;
            if (after < 2) {
                bool won = after == 0 && (dart >> 6) == 2u;
                remaining = won ? 0 : before;
                bust += !won;
                break;
            }
            remaining = after;
        }
    }
    thrown[player] = used;
    left[player] = remaining;
    busts[player] = bust;
}
