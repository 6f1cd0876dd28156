// Rainflow counting by the rule of four points: closed cycles of each channel's load by their range, what is left
// over as half cycles. counts holds half cycles; damage is the sum of the cubes of their ranges. Loads are 0 to 63.

__global__ void fatigue(const unsigned char* load, int* counts, long long* damage, int channels, int n)
{
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels) return;
    int* mine = counts + (size_t)channel * 64;
    for (int r = 0; r < 64; ++r) mine[r] = 0;

    // Ranges on the stack grow and then shrink, so that there are never more than 127 turning points and a new one.
    __shared__ unsigned char stack[64][128];
#define at(k) stack[(k) & 63][threadIdx.x]
    int depth = 1;
    long long harm = 0;
    at(0) = load[channel];
    for (int i = 1; i < n; ++i) {
        const int v = load[(size_t)i * channels + channel];
        const int top = at(depth - 1);
        if (v == top) continue;
        if (depth >= 2 && (v > top) == (top > at(depth - 2)))
            at(depth - 1) = v;
        else
            at(depth++) = v;
        while (depth >= 4) {
            const int a = at(depth - 4), b = at(depth - 3), c = at(depth - 2), d = at(depth - 1);
            const int range = abs(b - c);
            if (range > abs(a - b) || range > abs(c - d)) break;
            mine[range] += 2;
            harm += 2 * range * range * range;
            at(depth - 3) = d;
            depth -= 2;
        }
    }
    for (int k = 1; k < depth; ++k) {
        const int range = abs(at(k) - at(k - 1));
        mine[range] += 1;
        harm += range * range * range;
    }
    damage[channel] = harm;
}
