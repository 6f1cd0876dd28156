// As before, with a block's balls counted in shared memory: two 16-bit counters to a word, for up to 16384 cells.
// Longer lanes are counted in global memory.
constexpr int THREADS = 1024;
constexpr int WORDS = 8192;
// A counter gains at most THREADS a round, so the bins are emptied every 63 rounds.
constexpr int ROUNDS = 63;
extern "C" __global__ void __launch_bounds__(THREADS) ricochet(const int* __restrict__ x, const int* __restrict__ v,
                                                               int* __restrict__ cell, long long* __restrict__ hits,
                                                               int* __restrict__ heat, int n, int span, int t)
{
    __shared__ unsigned bins[WORDS];
    const bool local = span <= 2 * WORDS;
    const int words = local ? (span + 1) / 2 : 0;
    for (int k = threadIdx.x; k < words; k += THREADS) bins[k] = 0;
    __syncthreads();

    int round = 0;
    const int stride = gridDim.x * THREADS;
    for (int i0 = blockIdx.x * THREADS; i0 < n; i0 += stride) {
        const int i = i0 + (int)threadIdx.x;
        if (i < n) {
            const long long p = x[i] + (long long)v[i] * t;
            long long q = p / span;                     // the lane, rounded down
            long long r = p - q * span;
            if (r < 0) { r += span; --q; }
            const int c = (q & 1) ? span - 1 - (int)r : (int)r;
            cell[i] = c;
            hits[i] = q < 0 ? -q : q;
            if (local) atomicAdd(bins + (c >> 1), 1u << (16 * (c & 1)));
            else atomicAdd(heat + c, 1);
        }
        if (++round == ROUNDS) {
            round = 0;
            __syncthreads();
            for (int k = threadIdx.x; k < words; k += THREADS) {
                const unsigned two = bins[k];
                bins[k] = 0;
                if (two & 0xffffu) atomicAdd(heat + 2 * k, (int)(two & 0xffffu));
                if (two >> 16) atomicAdd(heat + 2 * k + 1, (int)(two >> 16));
            }
            __syncthreads();
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < words; k += THREADS) {
        const unsigned two = bins[k];
        if (two & 0xffffu) atomicAdd(heat + 2 * k, (int)(two & 0xffffu));
        if (two >> 16) atomicAdd(heat + 2 * k + 1, (int)(two >> 16));
    }
}
