// Rainflow counting by the rule of four points: closed cycles of each channel's load by their range, what is left
// over as half cycles. counts holds half cycles; damage is the sum of the cubes of their ranges. Loads are 0 to 63.
// A warp for each quarter of the time; what its cycles leave over is joined in the end.

struct Flow {
    unsigned char (*stack)[32];
    int* mine;
    int depth;
    long long harm;

    __device__ unsigned char& at(int k) { return stack[k][threadIdx.x]; }

    __device__ void take(int v)
    {
        if (depth == 0) {
            at(depth++) = v;
            return;
        }
        const int top = at(depth - 1);
        if (v == top) return;
        if (depth >= 2 && (v > top) == (top > at(depth - 2)))
            at(depth - 1) = v;
        else
            at(depth++) = v;
        while (depth >= 4) {
            const int a = at(depth - 4), b = at(depth - 3), c = at(depth - 2), d = at(depth - 1);
            const int range = abs(b - c);
            if (range > abs(a - b) || range > abs(c - d)) break;
            atomicAdd(&mine[range], 2);
            harm += 2 * range * range * range;
            at(depth - 3) = d;
            depth -= 2;
        }
    }
};

__global__ void fatigue(const unsigned char* load, int* counts, long long* damage, int channels, int n)
{
    __shared__ unsigned char stacks[4][128][32];
    __shared__ int depths[4][32];
    __shared__ long long harms[4][32];
    const int q = threadIdx.y;
    const int channel = blockIdx.x * 32 + threadIdx.x;
    const bool inside = channel < channels;
    int* mine = counts + (size_t)channel * 64;
    if (inside && q == 0)
        for (int r = 0; r < 64; ++r) mine[r] = 0;

    Flow flow = {stacks[q], mine, 0, 0};
    if (inside) {
        const int to = (int)((long long)n * (q + 1) / 4);
        for (int i = (int)((long long)n * q / 4); i < to; ++i) flow.take(load[(size_t)i * channels + channel]);
    }
    depths[q][threadIdx.x] = flow.depth;
    harms[q][threadIdx.x] = flow.harm;
    __syncthreads();

    if (!inside || q) return;
    for (int p = 1; p < 4; ++p) {
        flow.harm += harms[p][threadIdx.x];
        for (int k = 0; k < depths[p][threadIdx.x]; ++k) flow.take(stacks[p][k][threadIdx.x]);
    }
    for (int k = 1; k < flow.depth; ++k) {
        const int range = abs(flow.at(k) - flow.at(k - 1));
        atomicAdd(&mine[range], 1);
        flow.harm += range * range * range;
    }
    damage[channel] = flow.harm;
}
