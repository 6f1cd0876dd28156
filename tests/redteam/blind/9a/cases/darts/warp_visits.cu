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

// Warp a player: 32 visits at a time are scored by the lanes and summed by a scan; the first visit that would leave less
// than two is walked, and the scan goes on behind it.
__global__ void darts(const uint8_t* __restrict__ darts_in, int* __restrict__ thrown, int* __restrict__ left,
                      int* __restrict__ busts, int players, int n)
{
    int lane = threadIdx.x & 31;
    int player = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (player >= players)
        return;
    const uint8_t* in = darts_in + (size_t)player * n;
    int remaining = kStart, used = 0, bust = 0;
    int total = n / 3 + (n % 3 != 0);
    bool won = false;
    for (int first = 0; first < total && !won; first += 32) {
        int visit = first + lane;
        int have = visit < total ? min(3, n - 3 * visit) : 0;
        unsigned d[3];
        int s[3];
        for (int k = 0; k < 3; ++k) {
            d[k] = k < have ? in[3 * (size_t)visit + k] : 0u;
            s[k] = dart_score(d[k]);
        }
        int mine = s[0] + s[1] + s[2];
        int sum = mine, cnt = have;
        for (int o = 1; o < 32; o <<= 1) {
            int a = __shfl_up_sync(~0u, sum, o), b = __shfl_up_sync(~0u, cnt, o);
            if (lane >= o) {
                sum += a;
                cnt += b;
            }
        }
        int sumBase = 0, cntBase = 0;
        unsigned alive = ~0u;
        for (;;) {
            bool bad = remaining - (sum - sumBase) < 2;
            unsigned low = __ballot_sync(~0u, bad) & alive;
            if (!low) {
                remaining -= __shfl_sync(~0u, sum, 31) - sumBase;
                used += __shfl_sync(~0u, cnt, 31) - cntBase;
                break;
            }
            int at = __ffs(low) - 1;
            // what the visit found
            int start = remaining - (sum - mine - sumBase);
            int r0 = start - s[0], r1 = r0 - s[1], r2 = r1 - s[2];
            int k = r0 < 2 ? 0 : r1 < 2 ? 1 : 2;
            int last = k == 0 ? r0 : k == 1 ? r1 : r2;
            unsigned dart = k == 0 ? d[0] : k == 1 ? d[1] : d[2];
            int out = (last == 0 && (dart >> 6) == 2u) ? 1 : 0;
            int usedHere = used + (cnt - have - cntBase) + k + 1;
            remaining = __shfl_sync(~0u, start, at);
            used = __shfl_sync(~0u, usedHere, at);
            out = __shfl_sync(~0u, out, at);
            if (out) {
                remaining = 0;
                won = true;
                break;
            }
            ++bust;
            sumBase = __shfl_sync(~0u, sum, at);
            cntBase = __shfl_sync(~0u, cnt, at);
            alive = at == 31 ? 0u : ~0u << (at + 1);
        }
    }
    if (lane == 0) {
        thrown[player] = used;
        left[player] = remaining;
        busts[player] = bust;
    }
}
