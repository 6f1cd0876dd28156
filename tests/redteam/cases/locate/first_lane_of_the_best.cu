// Where a read fits a sequence best: the first of the places at which the fewest letters differ, and how many do.
// A read longer than the sequence has no place, -1. A warp a read; a lane leaves a place when it cannot be better,
// and the first of the lanes with the fewest writes.
__global__ void locate(const unsigned char* reads, const unsigned char* sequence, int* place, int* differ, int n,
                       int len, int m) {
    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    const unsigned char* read = reads + (size_t)i * len;
    int best = len + 1, at = -1;
    for (int p = lane; p + len <= m; p += 32) {
        int d = 0;
        for (int j = 0; j < len && d < best; ++j) d += read[j] != sequence[p + j];
        if (d < best) best = d, at = p;
    }
    int fewest = __reduce_min_sync(0xffffffffu, best);
    unsigned those = __ballot_sync(0xffffffffu, best == fewest);
    if (lane != __ffs(those) - 1) return;
    place[i] = at;
    differ[i] = fewest;
}
