#include <cstdint>

__global__ void bowling(const uint8_t* rolls, int* score, int* streak, int games, int n, int frames) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= games) return;
    const uint8_t* r = rolls + (size_t)g * n;
    int at = 0, total = 0, run = 0, best = 0, idle = 0;
    for (int f = 0; f < frames && at < n; ++f) {
        int first = min((int)r[at], 10);
        int one = at + 1 < n ? min((int)r[at + 1], 10) : 0;
        if (first == 10) {
            int two = at + 2 < n ? min((int)r[at + 2], 10) : 0;
            if (one < 10) two = min(two, 10 - one);
            total += 10 + one + two;
            best = max(best, ++run);
            at += 1;
            idle = 0;
        } else {
            int second = min(one, 10 - first);
            total += first + second;
            if (first + second == 10 && at + 2 < n) total += min((int)r[at + 2], 10);
            run = 0;
            at += 2;
            idle = first + second ? 0 : idle + 1;
            if (idle == 3) break;  // given up: the rest of the row is padding
        }
    }
    score[g] = total;
    streak[g] = best;
}
