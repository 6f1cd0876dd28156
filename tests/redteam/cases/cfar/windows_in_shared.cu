// Constant false alarm rate: a cell of a pulse is a hit where its power is above alpha/256 of the mean of `train` cells
// on either side, of which the next `guard` are left out; cells past the ends are not counted. Each pulse counts its hits,
// and keeps the strongest with the place of the first such cell, as power * 2^32 + (2^32 - 1 - place).
// Windows are read from shared memory; the hits of a warp are counted by one of its lanes, which also has the first of the strongest.
#define HALO 64
extern "C" __global__ void __launch_bounds__(256)
    cfar(const unsigned short* __restrict__ power, unsigned char* __restrict__ hit, int* __restrict__ count,
         unsigned long long* __restrict__ peak, int cells, int train, int guard, int alpha) {
    int i = blockIdx.x * 256 + threadIdx.x, pulse = blockIdx.y, lane = threadIdx.x % 32;
    const unsigned short* p = power + (size_t)pulse * cells;
    __shared__ unsigned short tile[256 + 2 * HALO];
    bool near = guard >= 0 && train >= 0 && guard <= HALO && train <= HALO - guard;
    int begin = blockIdx.x * 256 - HALO;
    if (near)
        for (int k = threadIdx.x; k < 256 + 2 * HALO; k += 256) {
            int at = begin + k;
            tile[k] = at >= 0 && at < cells ? p[at] : 0;
        }
    __syncwarp();
    const unsigned short* near_by = tile + HALO + threadIdx.x;
    bool found = false;
    unsigned mine = 0;
    if (i < cells) {
        long long sum = 0, n = 0;
        if (near)
            for (int k = guard + 1; k <= guard + train; ++k) {
                sum += near_by[-k] + near_by[k];
                n += (i - k >= 0) + (i + k < cells);
            }
        else
            for (int k = guard + 1; k <= guard + train; ++k) {
                if (i - k >= 0 && i - k < cells) sum += p[i - k], ++n;
                if (i + k >= 0 && i + k < cells) sum += p[i + k], ++n;
            }
        mine = p[i];
        found = n > 0 && mine * n * 256 > alpha * sum;
        hit[(size_t)pulse * cells + i] = found;
    }
    unsigned hits = __ballot_sync(0xffffffffu, found);
    if (!hits) return;
    unsigned most = __reduce_max_sync(0xffffffffu, found ? mine : 0u);
    unsigned equal = __ballot_sync(0xffffffffu, found && mine == most);
    if (lane == __ffs(equal) - 1) {
        atomicAdd(&count[pulse], __popc(hits));
        atomicMax(&peak[pulse], (unsigned long long)most << 32 | (0xffffffffu - i));
    }
}
