// Readings of meters with five digits. Negative readings are missing. A fall by more than half of the register is a
// roll-over, any other fall a fault that adds nothing. For each meter: what was used, the faults, and the longest gap.
#include <cuda_runtime.h>

__global__ void read_meters(const int* reading, long long* used, int* faults, int* gap, int m, int t)
{
    int lane = threadIdx.x % 32;
    int first = blockIdx.x * blockDim.x + threadIdx.x - lane;
    for (int meter = first; meter < first + 32 && meter < m; meter++) {
        const int* r = reading + (size_t)meter * t;
        long long total = 0;
        int bad = 0, longest = 0, run = 0, before = -1;
        for (int from = 0; from < t; from += 32) {
            int here = t - from < 32 ? t - from : 32;
            int now = lane < here ? r[from + lane] : -1;
            unsigned valid = __ballot_sync(0xffffffffu, now >= 0);
            unsigned lower = valid & ((1u << lane) - 1);
            int at = lower ? 31 - __clz(lower) : lane;
            int prior = __shfl_sync(0xffffffffu, now, at);
            if (!lower) prior = before;
            if (now >= 0) {
                longest = max(longest, lower ? lane - at - 1 : run + lane);
                if (prior >= 0) {
                    int step = now - prior;
                    if (step >= 0) total += step;
                    else if (step < -50000) total += step + 100000;
                    else bad++;
                }
            }
            int last = 31 - __clz(valid);
            before = __shfl_sync(0xffffffffu, now, last);
            run = here - 1 - last + (valid ? 0 : run);
        }
        longest = max(longest, run);
        for (int half = 16; half > 0; half >>= 1) {
            total += __shfl_xor_sync(0xffffffffu, total, half);
            bad += __shfl_xor_sync(0xffffffffu, bad, half);
            longest = max(longest, __shfl_xor_sync(0xffffffffu, longest, half));
        }
        if (lane == 0) {
            used[meter] = total;
            faults[meter] = bad;
            gap[meter] = longest;
        }
    }
}

void odometer(const int* reading, long long* used, int* faults, int* gap, int m, int t)
{
    read_meters<<<(m + 127) / 128, 128>>>(reading, used, faults, gap, m, t);
}
