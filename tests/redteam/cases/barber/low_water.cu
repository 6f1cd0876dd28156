#include <cstdint>

// One chair a row, customers in the order in which they come: gap[i] after the one before, work[i] in the chair.
// Per row the sum of all waits, the longest, who waited the longest first, and how many did not wait.
__global__ void barber(const int* gap, const int* work, int64_t* total, int* longest, int* who, int* idle,
                       int rows, int n) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const int* g = gap + (size_t)r * n;
    const int* w = work + (size_t)r * n;
    const unsigned all = 0xffffffffu;
    int64_t sum = 0;
    int most = 0, at = 0, none = 0;
    int before = 0, lowest = 0;   // of all that is added up: the sum so far, and the least it has been
    for (int from = 0; from < n; from += 32) {
        int i = from + lane;
        int p = i > 0 && i < n ? w[i - 1] - g[i] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            int q = __shfl_up_sync(all, p, d);
            if (lane >= d) p += q;
        }
        p += before;
        int low = min(p, lowest);
        for (int d = 1; d < 32; d <<= 1) {
            int q = __shfl_up_sync(all, low, d);
            if (lane >= d) low = min(low, q);
        }
        before = __shfl_sync(all, p, 31);
        lowest = __shfl_sync(all, low, 31);
        if (i < n) {
            int wait = p - low;
            sum += wait;
            none += wait == 0;
            if (wait > most) {
                most = wait;
                at = i;
            }
        }
    }
    for (int d = 16; d > 0; d >>= 1) {
        sum += __shfl_xor_sync(all, sum, d);
        none += __shfl_xor_sync(all, none, d);
        int m = __shfl_xor_sync(all, most, d), a = __shfl_xor_sync(all, at, d);
        if (m > most || (m == most && a < at)) {
            most = m;
            at = a;
        }
    }
    if (lane) return;
    total[r] = sum;
    longest[r] = most;
    who[r] = at;
    idle[r] = none;
}
