#include <cstdint>

// A warp for each game: every lane works out what a frame that begins at its roll would be worth; a walk over the
// ballot of strikes tells at which rolls frames do begin.
__global__ void bowling(const uint8_t* rolls, int* score, int* streak, int games, int n, int frames) {
    int lane = threadIdx.x & 31;
    int g = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (g >= games) return;
    const uint8_t* r = rolls + (size_t)g * n;
    int total = 0, run = 0, best = 0, left = frames, at = 0;
    for (int base = 0; base < n && left > 0; base += 32) {
        int i = base + lane;
        int first = i < n ? min((int)r[i], 10) : 0;
        int one = i + 1 < n ? min((int)r[i + 1], 10) : 0;
        int two = i + 2 < n ? min((int)r[i + 2], 10) : 0;
        int worth;
        if (first == 10) {
            worth = 10 + one + (one < 10 ? min(two, 10 - one) : two);
        } else {
            int second = min(one, 10 - first);
            worth = first + second + (first + second == 10 ? two : 0);
        }
        unsigned strikes = __ballot_sync(0xffffffffu, first == 10);
        int end = min(32, n - base);
        unsigned starts = 0;
        while (at < end && left > 0) {
            starts |= 1u << at;
            --left;
            if (strikes >> at & 1) {
                best = max(best, ++run);
                at += 1;
            } else {
                run = 0;
                at += 2;
            }
        }
        at -= 32;
        if (starts >> lane & 1) total += worth;
    }
    for (int s = 16; s > 0; s >>= 1) total += __shfl_xor_sync(0xffffffffu, total, s);
    if (lane == 0) {
        score[g] = total;
        streak[g] = best;
    }
}
