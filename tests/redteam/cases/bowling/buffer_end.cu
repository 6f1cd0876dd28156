#include <cstdint>

__global__ void bowling(const uint8_t* rolls, int* score, int* streak, int games, int n, int frames) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= games) return;
    const uint8_t* r = rolls + (size_t)g * n;
    const uint8_t* last = rolls + (size_t)games * n - 1;
    const uint8_t* stop = r + n;
    int total = 0, run = 0, best = 0;
    for (int f = 0; f < frames && r < stop; ++f) {
        int first = min((int)*r, 10);
        int one = r + 1 < stop ? min((int)r[1], 10) : 0;
        int two = r + 2 <= last ? min((int)r[2], 10) : 0;
        if (first == 10) {
            if (one < 10) two = min(two, 10 - one);
            total += 10 + one + two;
            best = max(best, ++run);
            r += 1;
        } else {
            int second = min(one, 10 - first);
            total += first + second;
            if (first + second == 10) total += two;
            run = 0;
            r += 2;
        }
    }
    score[g] = total;
    streak[g] = best;
}
