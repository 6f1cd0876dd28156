#include <cstdint>

__global__ void bowling(const uint8_t* rolls, int* score, int* streak, int games, int n, int frames) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= games) return;
    const uint8_t* r = rolls + (size_t)g * n;
    int whole = min(frames, (n + 1) / 2);
    bool strikes = false;
    for (int f = 0; f < whole; ++f) strikes |= r[2 * f] >= 10;
    int total = 0, best = 0;
    if (!strikes) {
        // no strike at an even roll: every frame has two rolls and begins at an even one
        for (int f = 0; f < whole; ++f) {
            int at = 2 * f;
            int both = r[at] + (at + 1 < n ? r[at + 1] : 0);
            total += min(both, 10);
            if (both >= 10 && at + 2 < n) total += min((int)r[at + 2], 10);
        }
    } else {
        int at = 0, run = 0;
        for (int f = 0; f < frames && at < n; ++f) {
            int first = min((int)r[at], 10);
            int one = at + 1 < n ? min((int)r[at + 1], 10) : 0;
            int two = at + 2 < n ? min((int)r[at + 2], 10) : 0;
            if (first == 10) {
                total += 10 + one + (one < 10 ? min(two, 10 - one) : two);
                best = max(best, ++run);
                at += 1;
            } else {
                int both = min(first + one, 10);
                total += both + (both == 10 ? two : 0);
                run = 0;
                at += 2;
            }
        }
    }
    score[g] = total;
    streak[g] = best;
}
