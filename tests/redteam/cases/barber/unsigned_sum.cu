#include <cstdint>

// One chair a row, customers in the order in which they come: gap[i] after the one before, work[i] in the chair.
// Per row the sum of all waits, the longest, who waited the longest first, and how many did not wait.
__global__ void barber(const int* gap, const int* work, int64_t* total, int* longest, int* who, int* idle,
                       int rows, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* g = gap + (size_t)r * n;
    const int* w = work + (size_t)r * n;
    unsigned sum = 0;
    int wait = 0, most = 0, at = 0, none = 1;
    for (int i = 1; i < n; ++i) {
        wait = max(0, wait + w[i - 1] - g[i]);
        sum += wait;
        none += wait == 0;
        if (wait > most) {
            most = wait;
            at = i;
        }
    }
    total[r] = sum;
    longest[r] = most;
    who[r] = at;
    idle[r] = none;
}
