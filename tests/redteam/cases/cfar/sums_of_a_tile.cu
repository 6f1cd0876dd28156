// Constant false alarm rate: a cell of a pulse is a hit where its power is above alpha/256 of the mean of `train` cells
// on either side, of which the next `guard` are left out; cells past the ends are not counted. Each pulse counts its hits,
// and keeps the strongest with the place of the first such cell, as power * 2^32 + (2^32 - 1 - place).
// A block sums the cells of its tile from the left; the sum of a window is a difference of two of them.
#define HALO 128
extern "C" __global__ void __launch_bounds__(256)
    cfar(const unsigned short* __restrict__ power, unsigned char* __restrict__ hit, int* __restrict__ count,
         unsigned long long* __restrict__ peak, int cells, int train, int guard, int alpha) {
    __shared__ unsigned upto[256 + 2 * HALO + 1];
    __shared__ unsigned warps[8];
    __shared__ int hits;
    __shared__ unsigned long long best;
    int pulse = blockIdx.y, begin = blockIdx.x * 256, i = begin + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned short* p = power + (size_t)pulse * cells;
    if (threadIdx.x == 0) hits = 0, best = 0, upto[0] = 0;
    bool near = guard >= 0 && train >= 0 && guard <= HALO && train <= HALO - guard;
    long long sum = 0, n = 0;
    unsigned short mine = i < cells ? p[i] : 0;
    if (near) {
        // Two neighbours to a thread.
        int at = begin - HALO + 2 * (int)threadIdx.x;
        unsigned a = at >= 0 && at < cells ? p[at] : 0, b = at + 1 >= 0 && at + 1 < cells ? p[at + 1] : 0;
        unsigned both = a + b, all = both;
        for (int s = 1; s < 32; s *= 2) {
            unsigned left = __shfl_up_sync(0xffffffffu, all, s);
            if (lane >= s) all += left;
        }
        if (lane == 31) warps[warp] = all;
        __syncthreads();
        for (int k = 0; k < warp; ++k) all += warps[k];
        upto[2 * threadIdx.x + 1] = all - b;
        upto[2 * threadIdx.x + 2] = all;
        __syncthreads();
        if (i < cells) {
            // Sums are from cell begin - HALO on.
            auto window = [&](int first, int last) {
                first = max(first, 0), last = min(last, cells - 1);
                if (first > last) return;
                n += last - first + 1;
                sum += upto[last - begin + HALO + 1] - upto[first - begin + HALO];
            };
            window(i - guard - train, i - guard - 1);
            window(i + guard + 1, i + guard + train);
        }
    } else {
        __syncthreads();
        if (i < cells)
            for (int k = guard + 1; k <= guard + train; ++k) {
                if (i - k >= 0 && i - k < cells) sum += p[i - k], ++n;
                if (i + k >= 0 && i + k < cells) sum += p[i + k], ++n;
            }
    }
    if (i < cells) {
        bool found = n > 0 && mine * n * 256 > alpha * sum;
        hit[(size_t)pulse * cells + i] = found;
        if (found) {
            atomicAdd(&hits, 1);
            atomicMax(&best, (unsigned long long)mine << 32 | (0xffffffffu - i));
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && hits) {
        atomicAdd(&count[pulse], hits);
        atomicMax(&peak[pulse], best);
    }
}
