// Readings of meters with five digits. Negative readings are missing. A fall by more than half of the register is a
// roll-over, any other fall a fault that adds nothing. For each meter: what was used, the faults, and the longest gap.
#include <cuda_runtime.h>

__global__ void read_meters(const int* reading, long long* used, int* faults, int* gap, int m, int t)
{
    int meter = blockIdx.x * blockDim.x + threadIdx.x;
    if (meter >= m) return;
    const int* r = reading + (size_t)meter * t;
    unsigned long long sums = 0;      // what was used, above 14 bits for the faults
    int longest = 0, run = 0, before = -1;
    for (int i = 0; i < t; i++) {
        int now = r[i];
        if (now < 0) {
            run++;
            if (run > longest) longest = run;
            continue;
        }
        run = 0;
        if (before >= 0) {
            int step = now - before;
            if (step >= 0) sums += (unsigned long long)step << 14;
            else if (step < -50000) sums += (unsigned long long)(step + 100000) << 14;
            else sums++;
        }
        before = now;
    }
    used[meter] = (long long)(sums >> 14);
    faults[meter] = (int)(sums & 16383);
    gap[meter] = longest;
}

void odometer(const int* reading, long long* used, int* faults, int* gap, int m, int t)
{
    read_meters<<<(m + 127) / 128, 128>>>(reading, used, faults, gap, m, t);
}
