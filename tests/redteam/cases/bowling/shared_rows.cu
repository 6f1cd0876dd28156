#include <cstdint>

__global__ void bowling(const uint8_t* rolls, int* score, int* streak, int games, int n, int frames) {
    extern __shared__ uint8_t rows[];
    int base = blockIdx.x * blockDim.x;
    int here = min((int)blockDim.x, games - base);
    const uint8_t* from = rolls + (size_t)base * n;
    for (int i = threadIdx.x; i < here * n; i += blockDim.x) rows[i] = min((int)from[i], 10);
    __syncthreads();
    if ((int)threadIdx.x >= here) return;
    const uint8_t* r = rows + threadIdx.x * n;
    int at = 0, total = 0, run = 0, best = 0;
    for (int left = frames; left > 0 && at < n; --left) {
        int first = r[at];
        int one = at + 1 < n ? r[at + 1] : 0;
        int two = at + 2 < n ? r[at + 2] : 0;
        bool strike = first == 10;
        int rack = strike ? (one == 10 ? 20 : 10) : 10 - first;
        // strike: `one` and `two` are the bonus, on one rack or on two; else `one` is the second ball
        if (strike) {
            total += 10 + min(one + two, rack);
        } else {
            int second = min(one, rack);
            total += first + second + (second == rack ? two : 0);
        }
        run = strike ? run + 1 : 0;
        best = max(best, run);
        at += strike ? 1 : 2;
    }
    score[base + threadIdx.x] = total;
    streak[base + threadIdx.x] = best;
}
