#include <cstdint>

// Ten-pin bowling. A game is a row of n rolls (pins knocked down, 0..10); at most `frames` frames are scored.
// A roll that claims more pins than stand counts those that stand; rolls beyond the row count nothing.
// score: the game's total, streak: the longest run of strikes in consecutive frames.
__global__ void bowling(const uint8_t* rolls, int* score, int* streak, int games, int n, int frames) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= games) return;
    const uint8_t* r = rolls + (size_t)g * n;
    int at = 0, total = 0, run = 0, best = 0;
    for (int f = 0; f < frames && at < n; ++f) {
        int first = min((int)r[at], 10);
        if (first == 10) {
            int b1 = at + 1 < n ? min((int)r[at + 1], 10) : 0;
            int b2 = at + 2 < n ? min((int)r[at + 2], 10) : 0;
            if (b1 < 10) b2 = min(b2, 10 - b1);  // both on the same rack
            total += 10 + b1 + b2;
            run += 1;
            best = max(best, run);
            at += 1;
        } else {
            int second = at + 1 < n ? min((int)r[at + 1], 10 - first) : 0;
            total += first + second;
            if (first + second == 10 && at + 2 < n) total += min((int)r[at + 2], 10);
            run = 0;
            at += 2;
        }
    }
    score[g] = total;
    streak[g] = best;
}
