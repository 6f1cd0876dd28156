// Readings of meters with five digits. Negative readings are missing. A fall by more than half of the register is a
// roll-over, any other fall a fault that adds nothing. For each meter: what was used, the faults, and the longest gap.
#include <cuda_runtime.h>

__global__ void read_meters(const int* reading, long long* used, int* faults, int* gap, int m, int t)
{
    int meter = blockIdx.x * blockDim.x + threadIdx.x;
    if (meter >= m) return;
    const int* r = reading + (size_t)meter * t;
    long long total = 0;
    int bad = 0, longest = 0, run = 0, before = -1;
    for (int part = 0; part < 4; part++) {
        int from = (int)((long long)t * part / 4), end = (int)((long long)t * (part + 1) / 4);
        if (from == end) continue;
        int head = 0, tail = 0, first = -1, last = -1;
        for (int i = from; i < end; i++) {
            int now = r[i];
            if (now < 0) {
                tail++;
                continue;
            }
            if (last < 0) {
                head = tail;
                first = now;
            } else {
                longest = max(longest, tail);
                int step = now - last;
                if (step >= 0) total += step;
                else if (step < -50000) total += step + 100000;
                else bad++;
            }
            tail = 0;
            last = now;
        }
        longest = max(longest, run + (last < 0 ? tail : head));
        run = tail;
        if (last < 0) continue;
        if (before >= 0) {
            int step = first - before;
            if (step >= 0) total += step;
            else if (step < -50000) total += step + 100000;
            else bad++;
        }
        before = last;
    }
    longest = max(longest, run);
    used[meter] = total;
    faults[meter] = bad;
    gap[meter] = longest;
}

void odometer(const int* reading, long long* used, int* faults, int* gap, int m, int t)
{
    read_meters<<<(m + 127) / 128, 128>>>(reading, used, faults, gap, m, t);
}
