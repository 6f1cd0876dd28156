// Where a read fits a sequence best: the first of the places at which the fewest letters differ, and how many do.
// A read longer than the sequence has no place, -1. A warp a read, a lane a place; letters go from lane to lane.
__global__ void locate(const unsigned char* reads, const unsigned char* sequence, int* place, int* differ, int n,
                       int len, int m) {
    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    const unsigned char* read = reads + (size_t)i * len;
    int best = len + 1, at = -1;
    for (int p0 = 0; p0 + len <= m; p0 += 32) {
        int p = p0 + lane, d = 0;
        unsigned letter = p < m ? sequence[p] : 0u;
        for (int j = 0; j < len; ++j) {
            d += read[j] != letter;
            letter = __shfl_down_sync(0xffffffffu, letter, 1);
            if (lane == 31) letter = p0 + 32 + j < m ? sequence[p0 + 32 + j] : 0u;
        }
        if (p + len <= m && d < best) best = d, at = p;
    }
    int fewest = __reduce_min_sync(0xffffffffu, best);
    unsigned first = __reduce_min_sync(0xffffffffu, best == fewest ? (unsigned)at : 0xffffffffu);
    if (lane) return;
    place[i] = (int)first;
    differ[i] = fewest;
}
