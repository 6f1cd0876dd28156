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

// Warp a player: the lanes score the visits into shared memory (score, and whether the visit holds a double), then lane 0
// takes them off; darts are only looked at one by one near the end of the leg.
constexpr int kVisits = 2048;                   // far more than any leg takes

__global__ void darts(const uint8_t* __restrict__ darts_in, int* __restrict__ thrown, int* __restrict__ left,
                      int* __restrict__ busts, int players, int n)
{
    __shared__ uint8_t score[4][kVisits];
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    int player = blockIdx.x * 4 + w;
    if (player >= players)
        return;
    const uint8_t* in = darts_in + (size_t)player * n;
    int total = min(n / 3 + (n % 3 != 0), kVisits);
    for (int v = lane; v < total; v += 32) {
        int sum = 0;
        for (int t = 3 * v; t < min(n, 3 * v + 3); ++t)
            sum += dart_score(in[t]);
        score[w][v] = (uint8_t)sum;
    }
    __syncwarp();
    if (lane)
        return;
    int remaining = kStart, used = 0, bust = 0;
    for (int v = 0; v < total && remaining > 0; ++v) {
        int have = min(3, n - 3 * v);
        if (remaining - score[w][v] >= 2) {
            remaining -= score[w][v];
            used += have;
            continue;
        }
        int before = remaining;
        for (int k = 0; k < have; ++k) {
            unsigned dart = in[3 * v + k];
            remaining -= dart_score(dart);
            ++used;
            if (remaining < 2) {
                bool won = remaining == 0 && (dart >> 6) == 2u;
                remaining = won ? 0 : before;
                bust += !won;
                break;
            }
        }
    }
    thrown[player] = used;
    left[player] = remaining;
    busts[player] = bust;
}
