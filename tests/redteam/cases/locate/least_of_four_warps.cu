// Where a read fits a sequence best: the first of the places at which the fewest letters differ, and how many do.
// A read longer than the sequence has no place, -1. Four warps a read, each of which improves what the others found.
__global__ void locate(const unsigned char* reads, const unsigned char* sequence, int* place, int* differ, int n,
                       int len, int m) {
    __shared__ unsigned long long least;
    int i = blockIdx.x, t = threadIdx.x;
    const unsigned char* read = reads + (size_t)i * len;
    int best = len + 1, at = -1;
    if (t == 0) least = (unsigned long long)best << 32 | (unsigned)at;
    __syncthreads();
    for (int p = t; p + len <= m; p += 128) {
        int d = 0;
        for (int j = 0; j < len && d < best; ++j) d += read[j] != sequence[p + j];
        if (d < best) best = d, at = p;
    }
    unsigned long long key = (unsigned long long)best << 32 | (unsigned)at;
    for (int d = 16; d; d /= 2) {
        unsigned long long other = __shfl_xor_sync(0xffffffffu, key, d);
        if (other < key) key = other;
    }
    if (t % 32 == 0 && key < least) least = key;
    __syncthreads();
    if (t) return;
    place[i] = (int)(unsigned)least;
    differ[i] = (int)(least >> 32);
}
