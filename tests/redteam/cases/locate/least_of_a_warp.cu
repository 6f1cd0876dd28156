// Where a read fits a sequence best: the first of the places at which the fewest letters differ, and how many do.
// A read longer than the sequence has no place, -1. A warp a read; a lane leaves a place when it cannot be better.
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
    // Fewest first, then the first place; no place at all is the last of these numbers.
    unsigned long long key = (unsigned long long)best << 32 | (unsigned)at;
    for (int d = 16; d; d /= 2) {
        unsigned long long other = __shfl_xor_sync(0xffffffffu, key, d);
        if (other < key) key = other;
    }
    if (lane) return;
    place[i] = (int)(unsigned)key;
    differ[i] = (int)(key >> 32);
}
