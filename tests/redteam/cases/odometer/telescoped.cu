// Readings of meters with five digits. Negative readings are missing. A fall by more than half of the register is a
// roll-over, any other fall a fault that adds nothing. For each meter: what was used, the faults, and the longest gap.
#include <cuda_runtime.h>

__global__ void read_meters(const int* reading, long long* used, int* faults, int* gap, int m, int t)
{
    int meter = blockIdx.x * blockDim.x + threadIdx.x;
    if (meter >= m) return;
    const int* r = reading + (size_t)meter * t;
    long long dropped = 0;
    int bad = 0, rolls = 0, longest = 0, valid = -1, first = -1, before = -1;
    for (int i = 0; i < t; i++) {
        int now = r[i];
        if (now < 0) continue;
        longest = max(longest, i - valid - 1);
        valid = i;
        if (before < 0) {
            first = before = now;
            continue;
        }
        if (before - now > 50000) {
            rolls++;
        } else if (now < before) {
            bad++;
            dropped += before - now;
        }
        before = now;
    }
    longest = max(longest, t - valid - 1);
    long long total = (long long)rolls * 100000 + dropped + (before - first);
    used[meter] = total;
    faults[meter] = bad;
    gap[meter] = longest;
}

void odometer(const int* reading, long long* used, int* faults, int* gap, int m, int t)
{
    read_meters<<<(m + 127) / 128, 128>>>(reading, used, faults, gap, m, t);
}
