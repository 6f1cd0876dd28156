#include <cstdint>

// Total, run and longest run in one register: 12, 10 and 10 bits.
__global__ void bowling(const uint8_t* rolls, int* score, int* streak, int games, int n, int frames) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= games) return;
    const uint8_t* r = rolls + (size_t)g * n;
    unsigned state = 0;
    int at = 0;
    for (int f = 0; f < frames && at < n; ++f) {
        int first = min((int)r[at], 10);
        int one = at + 1 < n ? min((int)r[at + 1], 10) : 0;
        int two = at + 2 < n ? min((int)r[at + 2], 10) : 0;
        if (first == 10) {
            if (one < 10) two = min(two, 10 - one);
            state += 10 + one + two + (1u << 12);
            unsigned run = state >> 12 & 1023, best = state >> 22;
            if (run > best) state += (run - best) << 22;
            at += 1;
        } else {
            int second = min(one, 10 - first);
            state += first + second + (first + second == 10 ? two : 0);
            state &= ~(1023u << 12);
            at += 2;
        }
    }
    score[g] = state & 4095;
    streak[g] = state >> 22;
}
