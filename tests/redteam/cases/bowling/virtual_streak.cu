#include <cstdint>

// One pass over the rolls with the number of marks that wait for this one and for the next.
__global__ void bowling(const uint8_t* rolls, int* score, int* streak, int games, int n, int frames) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= games) return;
    const uint8_t* r = rolls + (size_t)g * n;
    int standing = 10, frame = 0, next = 0, after = 0, total = 0, run = 0, best = 0;
    bool second = false;
    for (int at = 0; at < n && (frame < frames || next > 0); ++at) {
        int v = min((int)r[at], standing);
        int own = frame < frames;
        total += v * (own + next);
        next = after;
        after = 0;
        if (!second) {
            if (v == 10) {
                next += own;
                after = own;
                run += 1;
                best = max(best, run);
                ++frame;
            } else {
                run = 0;
                second = true;
                standing = 10 - v;
            }
        } else {
            if (v == standing) next += own;
            second = false;
            standing = 10;
            ++frame;
        }
    }
    score[g] = total;
    streak[g] = best;
}
